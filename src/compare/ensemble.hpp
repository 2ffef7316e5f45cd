#pragma once
// A trajectory (a loss or a gradient norm, a value a step) against the runs of an ensemble that differ by round-off alone.
//
//   spread_t   = running maximum, up to step t, of the members' standard deviation over |mean|
//   unit_t     = max(spread_t, floor) * |mean_t|
//   required   = max over t of |value_t - mean_t| / unit_t
//
// The ensemble shows reordering on one device, not the difference between two implementations: without the floor an honest device whose
// members agree to the last bit refuses every other one. A value that is not finite, or away from a mean of 0, needs +inf.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "case/spec.hpp"

namespace driftgate {

// Both row-major over the shape of the output; steps run along its last dim.
struct Ensemble {
  std::vector<double> mean, spread;
};

// members: at least two, of one length, a multiple of `steps`; Error `bad_ensemble`.
Ensemble summarise(const std::vector<std::vector<double>>& members, std::size_t steps);

// The least relative spread that two honest devices are left: 2^-21, 8 roundings of fp32, and an eighth of a rounding of a half format
// (2^-14 fp16, 2^-11 bf16), where many roundings reach one loss averaged. Measured: under it an fp64 run in place of fp32 needs 9.4, one
// in place of half autocast 5.7.
double ensemble_floor(Policy policy);

struct Trajectory {
  double required = 0;
  std::int64_t worst = -1;                              // element of the largest; -1: none was away from the mean
  double standing = 0;                                  // `required` of a run that stays where the ensemble starts: the reference's movement
  // The steps at which the largest `required` so far was passed, with that value: the first one above a limit is the first step outside.
  std::vector<std::pair<std::int64_t, double>> climbs;
};

// Lengths must be the ensemble's; Error `bad_length`.
Trajectory compare_trajectory(std::span<const double> values, const Ensemble& ensemble, std::size_t steps, double floor);

// -1 when every step is within the limit.
std::int64_t first_step_outside(const Trajectory& trajectory, double limit);

}  // namespace driftgate
