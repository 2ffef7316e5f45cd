#pragma once
// The order in which a SIMD group of 32 lanes adds.
#include <cstdint>

namespace driftgate {

// Each lane adds every 32nd element into 8 chains in turn, the chains in order, then the lanes by halving.
float lane_sum(const float* x, std::int64_t count);
// 1,024 threads, each every 1,024th element; 32 groups of lanes, then one.
float flat_sum(const float* x, std::int64_t count);

}  // namespace driftgate
