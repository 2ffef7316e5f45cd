#include "compare/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double distance(double value, double mean, double unit) {
  if (!std::isfinite(value) || !std::isfinite(mean)) return kInfinity;
  const double away = std::abs(value - mean);
  if (away == 0) return 0;
  return unit > 0 ? away / unit : kInfinity;
}

double relative_spread(const std::vector<std::vector<double>>& members, std::size_t at, double mean) {
  double squares = 0;
  for (const std::vector<double>& member : members) squares += (member[at] - mean) * (member[at] - mean);
  if (squares == 0) return 0;
  return std::sqrt(squares / static_cast<double>(members.size() - 1)) / std::abs(mean);
}

}  // namespace

Ensemble summarise(const std::vector<std::vector<double>>& members, std::size_t steps) {
  const std::size_t length = members.empty() ? 0 : members[0].size();
  const bool even = std::all_of(members.begin(), members.end(), [&](const auto& member) { return member.size() == length; });
  if (members.size() < 2 || !even || steps == 0 || length % steps != 0)
    throw Error("bad_ensemble", "ensemble", "it needs two members at least, each of the same number of whole trajectories");
  Ensemble ensemble;
  for (std::size_t i = 0; i < length; ++i) {
    double sum = 0;
    for (const std::vector<double>& member : members) sum += member[i];
    const double mean = sum / static_cast<double>(members.size());
    const double before = i % steps == 0 ? 0 : ensemble.spread.back();
    ensemble.mean.push_back(mean);
    ensemble.spread.push_back(std::max(before, relative_spread(members, i, mean)));
  }
  return ensemble;
}

double ensemble_floor(Policy policy) {
  const double u = unit_roundoff(computed_dtype(policy));
  return policy == Policy::fp32 ? 8 * u : u / 8;
}

Trajectory compare_trajectory(std::span<const double> values, const Ensemble& ensemble, std::size_t steps, double floor) {
  if (values.size() != ensemble.mean.size() || values.size() != ensemble.spread.size() || steps == 0 || values.size() % steps != 0)
    throw Error("bad_length", "trajectory", "it has not the length of its ensemble");
  Trajectory trajectory;
  std::vector<double> by_step(steps, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::size_t step = i % steps;
    const double mean = ensemble.mean[i], unit = std::max(ensemble.spread[i], floor) * std::abs(mean);
    const double away = distance(values[i], mean, unit);
    by_step[step] = std::max(by_step[step], away);
    trajectory.standing = std::max(trajectory.standing, distance(ensemble.mean[i - step], mean, unit));
    if (!(away > trajectory.required)) continue;
    trajectory.required = away;
    trajectory.worst = static_cast<std::int64_t>(i);
  }
  double highest = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    if (!(by_step[step] > highest)) continue;
    highest = by_step[step];
    trajectory.climbs.emplace_back(static_cast<std::int64_t>(step), highest);
  }
  return trajectory;
}

std::int64_t first_step_outside(const Trajectory& trajectory, double limit) {
  for (const auto& [step, required] : trajectory.climbs)
    if (!(required <= limit)) return step;
  return -1;
}

}  // namespace driftgate
