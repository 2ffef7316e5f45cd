#pragma once
// One golden set of parts that one card made, one after the other or side by side.
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "run/golden.hpp"

namespace driftgate {

struct GoldenJoin {
  Json provenance;                                      // the parts' own, with "joined": what each gave, and "unsupported"
  GoldenContent content;
};

// A case of a later part replaces that of an earlier one; an id that `known` lacks is left behind.
// Error `other_card` unless card, driver, build and flags of all parts are the same.
GoldenJoin join_goldens(const std::vector<std::filesystem::path>& parts, const std::set<std::string>& known);

}  // namespace driftgate
