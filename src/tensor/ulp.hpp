#pragma once
// The distance between two values of one float format in units of the last place, counted in representable values.
//
// Laws (each has a test):
//   distance(a, a) = 0; symmetric; distance(+0, -0) = 0; distance(NaN, NaN) = 0; distance(NaN, x) = kUlpInfinite
//   neighbours are at distance 1, across a power of two and at the subnormal border too
//   opposite signs add their distances to zero; the largest finite value and infinity are neighbours
//   between values of one sign it is additive: distance(a, c) = distance(a, b) + distance(b, c) for a <= b <= c
#include <cstdint>

#include "tensor/dtype.hpp"

namespace driftgate {

inline constexpr std::uint64_t kUlpInfinite = ~std::uint64_t{0};

// a and b must be values of `dtype` (f16, bf16, f32, f64); other values are rounded to it first.
std::uint64_t ulp_distance(DType dtype, double a, double b);

}  // namespace driftgate
