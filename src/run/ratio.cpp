#include "run/ratio.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr auto kRatio = static_cast<std::size_t>(Bound::ratio);

double over(double error, double unit) {
  if (error == 0) return 0;
  return unit > 0 ? error / unit : kInfinity;
}

// With `required` in the unit.
Comparison measured(const Buffer& candidate, const std::vector<double>& values, double unit) {
  Comparison comparison = compare(candidate.dtype, candidate.bytes, values, Units{}, Bound::ratio);
  comparison.required[kRatio] = comparison.nonfinite_mismatch > 0 ? kInfinity : over(comparison.rms_error, unit);
  return comparison;
}

void find_worst(const Buffer& candidate, const std::vector<double>& values, Comparison& comparison) {
  const std::vector<double> got = to_doubles(candidate);
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::fabs(got[i] - values[i]);
    if (error <= largest) continue;                      // a NaN is the worst, and the last of them is named
    largest = std::isnan(error) ? kInfinity : error;
    comparison.worst = static_cast<std::int64_t>(i);
    comparison.worst_got = got[i];
    comparison.worst_want = values[i];
  }
}

std::vector<double> at_positions(const std::vector<double>& values, const std::vector<std::int64_t>& positions) {
  std::vector<double> part;
  for (const std::int64_t p : positions) part.push_back(values[static_cast<std::size_t>(p)]);
  return part;
}

}  // namespace

Comparison compare_ratio(const Buffer& candidate, const ReferenceOutput& reference, double golden_required) {
  const double unit = reference.floor * std::max(1.0, golden_required);
  Comparison comparison = measured(candidate, reference.values, unit);
  comparison.zeros_required = over(comparison.rms_reference, unit);
  find_worst(candidate, reference.values, comparison);
  return comparison;
}

GoldenRecord compare_golden_ratio(const GoldenOutput& golden, const Buffer& candidate, const ReferenceOutput& reference) {
  const std::vector<std::int64_t> positions = sample_positions(reference.value.shape);
  const std::vector<double> values = at_positions(reference.values, positions);
  const Buffer sample = take(candidate, positions);
  const double unit = reference.floor * std::max(1.0, golden.required);
  const Comparison own = measured(golden.sample, values, reference.floor);
  GoldenRecord record;
  record.spread = golden.spread;
  record.tf32_required = golden.tf32_required;
  record.required = std::max(golden.required, own.required[kRatio]);
  record.direct = measured(sample, to_doubles(golden.sample), unit).required[kRatio];
  record.rms_error = own.rms_error;
  record.candidate_rms_error = measured(sample, values, unit).rms_error;
  const std::vector<std::size_t> kept = double_positions(positions.size());
  record.reference_gap = kInfinity;
  if (golden.doubles.size() != kept.size()) return record;
  record.reference_gap = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double gap = over(std::fabs(golden.doubles[i] - values[kept[i]]), reference.floor);
    if (!(gap <= record.reference_gap)) record.reference_gap = gap;
  }
  return record;
}

double ratio_distance(const Buffer& a, const Buffer& b, const ReferenceOutput& reference) {
  return measured(a, to_doubles(b), reference.floor).required[kRatio];
}

}  // namespace driftgate
