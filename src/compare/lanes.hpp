#pragma once
// Reductions over an array of doubles that compilers turn into vector instructions without reordering a sum: every sum has a
// fixed number of independent partial sums, so its value is the same on every machine.
#include <algorithm>
#include <bit>
#include <cstdint>

namespace driftgate {

// For a function that has a twin for wider registers: the same arithmetic, without fused multiply-add, and so the same bits.
#if defined(__x86_64__) && defined(__GNUC__)
#define DRIFTGATE_AVX2 gnu::target("avx2"), gnu::flatten
#endif

inline constexpr int kLanes = 8;
inline constexpr std::uint64_t kMagnitude = ~std::uint64_t{0} >> 1;

inline std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }
inline double positive(double value) { return value > 0 ? value : 0; }       // 0 for NaN

// Whether |value| < limit for every value; NaN is not.
inline bool all_below(const double* values, std::int64_t count, double limit) {
  const std::uint64_t gap = ~kMagnitude - bits_of(limit);
  std::uint64_t over = 0;
  for (std::int64_t i = 0; i < count; ++i) over |= (bits_of(values[i]) & kMagnitude) + gap;
  return over >> 63 == 0;
}

// 0 at least; NaN is passed over.
inline double largest(const double* values, std::int64_t count) {
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] = values[i + j] > lanes[j] ? values[i + j] : lanes[j];
  }
  for (; i < count; ++i) lanes[0] = std::max(lanes[0], values[i]);
  return *std::max_element(lanes, lanes + kLanes);
}

inline double sum_of_squares(const double* values, std::int64_t count) {
  double lanes[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (int j = 0; j < kLanes; ++j) lanes[j] += values[i + j] * values[i + j];
  }
  for (; i < count; ++i) lanes[0] += values[i] * values[i];
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace driftgate
