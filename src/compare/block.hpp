#pragma once
// The inner loops of compare().
#include "compare/tally.hpp"

namespace driftgate {

// Tallies elements [first, first + count), count <= kBlock. `tame`: every reference is in range.
// Returns the sum of squared errors.
double tally_block(const Task& task, std::int64_t first, std::int64_t count, bool tame, Tally& tally);

}  // namespace driftgate
