#pragma once
// Where a failing case begins to fail: each of its extents is varied alone, and the boundary found by bisection.
//
// An extent is a size that occurs in the shapes of the case's tensors (and in its integer arguments): all its occurrences move
// together, so that shapes which belong together still do. A size that the operator does not take is passed over.
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "judge/tolerance.hpp"
#include "run/runner.hpp"

namespace driftgate {

struct Edge {
  std::int64_t extent = 0;                              // in the failing case
  std::string where;                                    // "self dim 1, weight dim 0"
  std::optional<std::int64_t> right_up_to;              // absent: wrong at every size that was tried
  std::int64_t wrong_from = 0;
};

enum class Trial { right, wrong, invalid };

// Bisects between 1 and `wrong_at`, which is known to be wrong. nullopt when no smaller size is valid.
// The result says what was seen: right at right_up_to, wrong at wrong_from, nothing valid between them.
std::optional<Edge> bisect(std::int64_t wrong_at, const std::function<Trial(std::int64_t)>& attempt);

// The edges of a case that fails on the device; nullopt when it does not fail. Other sizes have no golden: they are judged
// by the reference alone, at the tier that the case was judged at.
std::optional<std::vector<Edge>> find_edges(const Case& c, const ToleranceRow& row, Device device, const GoldenSet* golden);
std::string to_string(const Edge& edge);                // "self dim 0: right up to 8, wrong from 9"

}  // namespace driftgate
