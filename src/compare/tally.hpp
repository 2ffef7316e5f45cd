#pragma once
// What compare() collects while it goes through the elements in blocks. Blocks have a fixed size, so neither the sums nor the
// result depend on how many threads share them.
#include <array>
#include <cstdint>

#include "compare/comparison.hpp"

namespace driftgate {

inline constexpr std::int64_t kBlock = 192;      // small: its scratch stays in the nearest cache, and 8 bits count it
inline constexpr int kRatioBins = 512;           // of (excess / unit)²: eight an octave, from 2^-32 to 2^32
inline constexpr int kRatioShift = 52 - 3;       // leaves the exponent and three fraction bits of a double
inline constexpr int kFirstRatio = (1023 - 32) * 8;  // those of 2^-32
inline constexpr int kTables = 4;                // copies of a histogram: equal neighbours do not wait for each other

struct Task {
  DType dtype = DType::f32;                      // of a component
  const std::byte* candidate = nullptr;
  std::span<const double> reference;
  Units units;
  Bound chosen = Bound::exact;
  std::array<bool, kBounds> given{};
  double range = 0;                              // what an infinity counts as
  double half_ulp = 0;                           // of 1
  double least_half_ulp = 0;                     // of the subnormals; half of f64's is less than any double, and 0
  double always_allowed = 0;                     // the smallest subnormal's half, and what may be flushed
  std::int64_t above_p999 = 0;                   // how many may be larger than the 99.9th percentile
  double general_floor = 0;                      // (0.1·u·rms(r))² + (0.25·rms(S))²
};

// Everything that may be added in any order, but for `worst`: the earlier block comes first.
struct Tally {
  std::int64_t differing = 0, zeros_differing = 0;
  std::int64_t nan_mismatch = 0, reference_nan = 0;
  std::int64_t finite = 0;                       // elements whose error counts
  double max_error = 0;
  std::array<double, kBounds> square{};          // the largest (excess / unit)²
  double zeros_square = 0;                       // the chosen bound's, had the candidate been all zeros
  std::int64_t worst = -1;                       // where the chosen bound's largest stands
  std::array<std::int64_t, kUlpBins> ulps{};
  std::array<std::array<std::int64_t, kRatioBins>, kTables> ratios{};
  // Ratios below this edge cannot move the percentile: enough larger ones were seen. They may stand in the first bin.
  double rank_edge = 0;
  std::int64_t ranked = 0;                       // blocks

  void block_ranked(std::int64_t above_p999);    // moves the edge from time to time
  void add(const Tally& later, Bound chosen);
};

struct Moments {                                 // sums of squares over the values in range, and their number
  double reference = 0, sensitivity = 0;
  std::int64_t references = 0, sensitivities = 0;
};
Moments moments_of_block(const Task& task, std::int64_t first, std::int64_t count);

// The upper edge of a bin of `ratios`, as excess / unit: 0 for the first, infinite for the last.
double ratio_edge(int bin);

}  // namespace driftgate
