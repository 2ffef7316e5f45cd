#include "compare/tally.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compare/lanes.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

Moments moments_of_block(const Task& task, std::int64_t first, std::int64_t count) {
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
  Moments moments;
  add(task.reference, task.range, moments.reference, moments.references);
  add(task.units.sensitivity, kInfinity, moments.sensitivity, moments.sensitivities);
  return moments;
}

void Tally::add(const Tally& later, Bound chosen) {
  differing += later.differing;
  zeros_differing += later.zeros_differing;
  nan_mismatch += later.nan_mismatch;
  reference_nan += later.reference_nan;
  finite += later.finite;
  max_error = std::max(max_error, later.max_error);
  if (later.square[static_cast<std::size_t>(chosen)] > square[static_cast<std::size_t>(chosen)]) worst = later.worst;
  for (std::size_t bound = 0; bound < kBounds; ++bound) {
    square[bound] = std::max(square[bound], later.square[bound]);
    zeros_square[bound] = std::max(zeros_square[bound], later.zeros_square[bound]);
  }
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
