#include "run/ensemble_case.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "run/program_case.hpp"
#include "training/members.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity(), kMovement = 10;
constexpr auto kBound = static_cast<std::size_t>(Bound::ensemble);

bool is_held_out(const ReferenceOutput& reference) { return reference.name == "held_out"; }

double relative(double value, double mean) {
  if (value == mean) return 0;
  const double away = std::fabs(value - mean) / std::fabs(mean);
  return std::isnan(away) ? kInfinity : away;
}

double largest_relative(const std::vector<double>& values, const std::vector<double>& means) {
  double largest = values.size() == means.size() ? 0 : kInfinity;
  for (std::size_t i = 0; i < values.size() && i < means.size(); ++i) largest = std::max(largest, relative(values[i], means[i]));
  return largest;
}

std::size_t steps_of(const ReferenceOutput& reference) { return reference.value.shape.empty() ? 1 : static_cast<std::size_t>(reference.value.shape.back()); }

double required(const std::vector<double>& values, const Ensemble& ensemble, const ReferenceOutput& reference) {
  if (is_held_out(reference)) return largest_relative(values, ensemble.mean);
  return compare_trajectory(values, ensemble, steps_of(reference), reference.ensemble_floor).required;
}

}  // namespace

void attach_ensembles(const GoldenCase* golden, Policy policy, Reference& reference) {
  for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
    ReferenceOutput& output = reference.outputs[i];
    if (output.bound != Bound::ensemble) continue;
    output.ensemble_floor = ensemble_floor(policy);
    const bool known = golden && i < golden->outputs.size() && golden->outputs[i].name == output.name && golden->outputs[i].shape == output.value.shape;
    if (known) output.ensemble = golden->outputs[i].ensemble;
  }
}

Comparison compare_ensemble(const Buffer& candidate, const ReferenceOutput& reference) {
  Comparison comparison = compare(candidate.dtype, candidate.bytes, reference.values, Units{}, Bound::ensemble);
  if (!reference.ensemble) return comparison;
  const std::vector<double> values = to_doubles(candidate);
  comparison.zeros_required = 0;
  if (is_held_out(reference)) {
    comparison.required[kBound] = largest_relative(values, reference.ensemble->mean);
    return comparison;
  }
  const Trajectory trajectory = compare_trajectory(values, *reference.ensemble, steps_of(reference), reference.ensemble_floor);
  comparison.required[kBound] = trajectory.required;
  if (reference.name == "loss") comparison.zeros_required = trajectory.standing / kMovement;
  comparison.worst = trajectory.worst;
  if (trajectory.worst >= 0) {
    comparison.worst_got = values[static_cast<std::size_t>(trajectory.worst)];
    comparison.worst_want = reference.ensemble->mean[static_cast<std::size_t>(trajectory.worst)];
  }
  return comparison;
}

double ensemble_distance(const Buffer& a, const Buffer& b, const ReferenceOutput& reference) {
  Ensemble around{to_doubles(b), std::vector<double>(reference.values.size(), 0)};
  if (reference.ensemble) around.spread = reference.ensemble->spread;
  return required(to_doubles(a), around, reference);
}

GoldenRecord compare_golden_ensemble(const GoldenOutput& golden, const Buffer& candidate, const ReferenceOutput& reference) {
  GoldenRecord record;
  record.required = golden.required;
  record.spread = golden.spread;
  record.tf32_required = golden.tf32_required;
  record.half_required = golden.half_required;
  record.direct = record.reference_gap = kInfinity;
  if (golden.sample.components() != candidate.components() || golden.sample.dtype != candidate.dtype || !golden.ensemble) return record;
  const Buffer whole = from_doubles(golden.sample.dtype, candidate.shape, to_doubles(golden.sample));
  record.direct = ensemble_distance(candidate, whole, reference);
  record.rms_error = compare(whole.dtype, whole.bytes, reference.values, Units{}, Bound::ensemble).rms_error;
  record.candidate_rms_error = compare(candidate.dtype, candidate.bytes, reference.values, Units{}, Bound::ensemble).rms_error;
  const std::vector<std::size_t> kept = double_positions(reference.values.size());
  if (golden.doubles.size() != kept.size()) return record;
  record.reference_gap = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double unit = std::max(golden.ensemble->spread[kept[i]], reference.ensemble_floor);
    record.reference_gap = std::max(record.reference_gap, relative(golden.doubles[i], reference.values[kept[i]]) / unit);
  }
  return record;
}

double reference_required(const ReferenceOutput& reference) { return required(reference.values, *reference.ensemble, reference); }

void add_trajectories(const Reference& reference, const std::map<std::string, Buffer>& values, const GoldenCase* golden, CaseRecord& record) {
  for (std::size_t i = 0; i < record.outputs.size(); ++i) {
    const ReferenceOutput& truth = reference.outputs[i];
    if (truth.bound != Bound::ensemble || !truth.ensemble || is_held_out(truth)) continue;
    OutputRecord& output = record.outputs[i];
    const std::vector<double> mine = to_doubles(values.at(truth.name));
    output.climbs = compare_trajectory(mine, *truth.ensemble, steps_of(truth), truth.ensemble_floor).climbs;
    if (truth.name != "loss" || !golden) continue;
    const std::vector<double> theirs = to_doubles(golden->outputs[i].sample);
    std::size_t equal = 0;
    for (std::size_t step = 0; step < mine.size() && step < theirs.size(); ++step) equal += mine[step] == theirs[step] ? 1 : 0;
    output.metrics["golden_gap"] = largest_relative(mine, theirs);
    output.metrics["golden_equal"] = static_cast<double>(equal) / static_cast<double>(mine.size());
  }
}

std::string make_ensembles(const Case& c, Device device, const Observation& first, Reference& reference) {
  const PreparedProgram prepared = prepare_program(c);
  std::vector<std::vector<std::vector<double>>> runs(reference.outputs.size());        // by output, then by member
  for (std::uint32_t member = 0; member < kMembers; ++member) {
    const Observation observation = member == 0 ? first : run_program(member_of(prepared, member), device);
    if (observation.stage != "done" || observation.outputs.size() != runs.size())
      return "member " + std::to_string(member) + " of the ensemble: " + observation.stage + " " + observation.message;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      runs[i].push_back(to_doubles(observation.outputs[i].value));
      if (!std::all_of(runs[i].back().begin(), runs[i].back().end(), [](double v) { return std::isfinite(v); }))
        return "member " + std::to_string(member) + " of the ensemble does not train: '" + reference.outputs[i].name + "' is not finite";
    }
  }
  for (std::size_t i = 0; i < runs.size(); ++i) {
    ReferenceOutput& output = reference.outputs[i];
    if (output.bound != Bound::ensemble) continue;
    output.ensemble = summarise(runs[i], steps_of(output));
    output.ensemble_floor = ensemble_floor(c.policy);
  }
  return "";
}

void add_half_pass(const Case& c, Device device, const Reference& reference, GoldenCase& golden) {
  Case half = c;
  half.policy = Policy::amp_bf16;                       // its inputs are those of fp32
  const Observation observation = run_program(prepare_program(half), device);
  if (observation.stage != "done" || observation.outputs.size() != reference.outputs.size()) return;
  for (std::size_t i = 0; i < reference.outputs.size(); ++i)
    if (reference.outputs[i].ensemble)
      golden.outputs[i].half_required = required(to_doubles(observation.outputs[i].value), *reference.outputs[i].ensemble, reference.outputs[i]);
}

}  // namespace driftgate
