#pragma once
// A case of any level, made ready: what the golden exporter, the mutants and the runner ask of it.
#include <memory>

#include "run/reference.hpp"

namespace driftgate {

class Runnable {
 public:
  virtual ~Runnable() = default;
  virtual const Case& source() const = 0;
  virtual const std::vector<PreparedInput>& inputs() const = 0;
  virtual Digest digest() const = 0;                     // of all inputs
  virtual Reference reference() = 0;
  virtual Observation evaluate(const Edit& edit) = 0;    // the reference on other inputs
  virtual Observation run(Device device) = 0;
};

std::unique_ptr<Runnable> make_runnable(const Case& c);  // Error when the spec does not fit the operator or the program
// Why a case cannot be made ready on this host, though nothing is wrong with it: published weights that are not installed. Else empty.
std::string not_installed(const Case& c);

}  // namespace driftgate
