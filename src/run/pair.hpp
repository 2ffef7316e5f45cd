#pragma once
// A case with one plain argument changed.
#include <string>
#include <vector>

#include "case/case.hpp"

namespace driftgate {

// Other values for an argument's, in the order in which they are tried: a flag flipped, a number moved, a list reversed.
std::vector<Json> other_values(const Json& value);
// The plain arguments that could be changed, by name.
std::vector<std::string> alterable(const ArgumentSet& set);

// The first other value with which the operator has a reference, and another result. Owns the argument set its case points to.
class AlteredCase {
 public:
  AlteredCase(const Case& plain, const std::string& argument);               // Error `bad_twin` when no value will do
  const Case& get() const { return case_; }

 private:
  ArgumentSet arguments_;
  Case case_;
};

}  // namespace driftgate
