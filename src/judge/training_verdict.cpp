#include "judge/training_verdict.hpp"

#include <algorithm>
#include <cmath>

namespace driftgate {
namespace {

constexpr double kOfItsClass = 3;

double required(const OutputRecord& output) { return output.comparison.required[static_cast<std::size_t>(Bound::ensemble)]; }

bool within_class(const std::vector<const OutputRecord*>& trajectories, double GoldenRecord::*of_class) {
  return std::all_of(trajectories.begin(), trajectories.end(),
                     [&](const OutputRecord* output) { return output->golden && required(*output) <= kOfItsClass * ((*output->golden).*of_class); });
}

// The first step outside, and the output that takes it.
void find_first_step(const std::vector<const OutputRecord*>& trajectories, double limit, TrainingVerdict& verdict) {
  for (const OutputRecord* output : trajectories) {
    const auto outside = std::find_if(output->climbs.begin(), output->climbs.end(), [&](const auto& climb) { return !(climb.second <= limit); });
    const bool without = outside == output->climbs.end() && !(required(*output) <= limit);
    if (outside == output->climbs.end() && !without) continue;
    const std::int64_t steps = output->shape.empty() ? 0 : output->shape.back(), stride = steps > 0 && steps < kTrajectory ? kTrajectory / steps : 1;
    const std::int64_t step = without ? 0 : outside->first * stride;
    if (verdict.first_step >= 0 && step >= verdict.first_step) continue;
    verdict.first_step = step;
    verdict.output = output->name;
  }
}

}  // namespace

std::optional<TrainingVerdict> training_verdict(const CaseRecord& record, const Case& c, const ToleranceRow& row) {
  TrainingVerdict verdict;
  std::vector<const OutputRecord*> trajectories;
  for (const OutputRecord& output : record.outputs) {
    if (output.bound != Bound::ensemble || !output.golden) continue;
    if (output.name == kHeldOut) {
      verdict.change = required(output);
      continue;
    }
    trajectories.push_back(&output);
    if (const auto gap = output.metrics.find("golden_gap"); gap != output.metrics.end()) verdict.loss_gap = gap->second;
  }
  if (trajectories.empty()) return std::nullopt;
  verdict.margin = row.margin;
  find_first_step(trajectories, row.limit, verdict);
  if (verdict.faithful()) verdict.fidelity = std::string(name(c.policy)) + "-faithful";
  else if (c.policy == Policy::fp32 && within_class(trajectories, &GoldenRecord::tf32_required)) verdict.fidelity = "tf32-class";
  else if (c.policy == Policy::fp32 && within_class(trajectories, &GoldenRecord::half_required)) verdict.fidelity = "half-class";
  else verdict.fidelity = "none";
  return verdict;
}

}  // namespace driftgate
