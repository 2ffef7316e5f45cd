#include "compare/tally.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compare/lanes.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Moments moments(const Task& task, std::int64_t first, std::int64_t count) {
  const auto add = [first, count](std::span<const double> values, double limit, double& sum, std::int64_t& number) {
    if (values.empty()) return;
    const double* block = values.data() + first;
    if (all_below(block, count, limit)) {
      sum = sum_of_squares(block, count);
      number = count;
      return;
    }
    double kept[kBlock];
    number = std::copy_if(block, block + count, kept, [limit](double value) { return std::fabs(value) < limit; }) - kept;
    sum = sum_of_squares(kept, number);
  };
  Moments result;
  add(task.reference, task.range, result.reference, result.references);
  add(task.units.sensitivity, kInfinity, result.sensitivity, result.sensitivities);
  return result;
}

#ifdef DRIFTGATE_AVX2
[[DRIFTGATE_AVX2]] Moments moments_avx2(const Task& task, std::int64_t first, std::int64_t count) {
  return moments(task, first, count);
}
#endif

}  // namespace

Moments moments_of_block(const Task& task, std::int64_t first, std::int64_t count) {
#ifdef DRIFTGATE_AVX2
  if (__builtin_cpu_supports("avx2")) return moments_avx2(task, first, count);
#endif
  return moments(task, first, count);
}

void Tally::block_ranked(std::int64_t above_p999) {
  if (++ranked % 16 != 0) return;
  std::int64_t seen = 0;
  for (int bin = kRatioBins - 1; bin > 0; --bin) {
    for (const auto& table : ratios) seen += table[static_cast<std::size_t>(bin)];
    if (seen <= above_p999) continue;
    rank_edge = std::pow(ratio_edge(bin), 2);
    return;
  }
}

void Tally::add(const Tally& later, Bound chosen) {
  differing += later.differing;
  zeros_differing += later.zeros_differing;
  nan_mismatch += later.nan_mismatch;
  reference_nan += later.reference_nan;
  finite += later.finite;
  max_error = std::max(max_error, later.max_error);
  if (later.square[static_cast<std::size_t>(chosen)] > square[static_cast<std::size_t>(chosen)]) worst = later.worst;
  zeros_square = std::max(zeros_square, later.zeros_square);
  for (std::size_t bound = 0; bound < kBounds; ++bound) square[bound] = std::max(square[bound], later.square[bound]);
  for (std::size_t bin = 0; bin < kUlpBins; ++bin) ulps[bin] += later.ulps[bin];
  for (std::size_t table = 0; table < kTables; ++table) {
    for (std::size_t bin = 0; bin < kRatioBins; ++bin) ratios[table][bin] += later.ratios[table][bin];
  }
}

double ratio_edge(int bin) {
  if (bin == 0) return 0;
  if (bin == kRatioBins - 1) return kInfinity;
  return std::sqrt(std::bit_cast<double>(static_cast<std::uint64_t>(bin + 1 + kFirstRatio) << kRatioShift));
}

}  // namespace driftgate
