#include "run/runner.hpp"

#include <cmath>
#include <span>

#include "compare/levels.hpp"
#include "device/torch_types.hpp"
#include "error.hpp"
#include "run/ensemble_case.hpp"
#include "run/ratio.hpp"
#include "run/statistical.hpp"
#include "run/stopwatch.hpp"

namespace driftgate {
namespace {

// The units at `positions` of the elements; owns what the spans of `units` point to.
struct SampledUnits {
  std::vector<double> sensitivity, squares, terms, allowance, values;
  Units units;
};

std::vector<double> pick(std::span<const double> whole, const std::vector<std::int64_t>& positions, std::size_t per) {
  std::vector<double> part;
  if (whole.empty()) return part;
  part.reserve(positions.size() * per);
  for (const std::int64_t p : positions)
    for (std::size_t k = 0; k < per; ++k) part.push_back(whole[static_cast<std::size_t>(p) * per + k]);
  return part;
}

SampledUnits sample_units(const ReferenceOutput& reference, const std::vector<std::int64_t>& positions) {
  const std::size_t per = is_complex(reference.value.dtype) ? 2 : 1;
  SampledUnits sampled;
  sampled.sensitivity = pick(reference.sensitivity, positions, per);
  sampled.squares = pick(reference.squares, positions, per);
  sampled.terms = pick(reference.terms, positions, per);
  sampled.allowance = pick(reference.allowance, positions, per);
  sampled.values = pick(reference.values, positions, per);
  sampled.units = Units{sampled.sensitivity, sampled.squares, sampled.terms, reference.terms_scalar, reference.square_weight,
                        sampled.allowance, reference.signed_zero, reference.rounded};
  return sampled;
}

double required(const Comparison& comparison, Bound bound) { return comparison.required[static_cast<std::size_t>(bound)]; }

// Shape, kind and number of outputs must be the reference's; the empty string when they are.
std::string mismatch(const Observation& observation, const Reference& reference) {
  if (observation.outputs.size() != reference.outputs.size())
    return std::to_string(observation.outputs.size()) + " outputs, not " + std::to_string(reference.outputs.size());
  for (std::size_t i = 0; i < observation.outputs.size(); ++i) {
    const Output& got = observation.outputs[i];
    const ReferenceOutput& want = reference.outputs[i];
    if (got.name != want.name) return "output '" + got.name + "' where '" + want.name + "' is due";
    if (got.value.shape != want.value.shape) return "'" + got.name + "' has another shape than the reference";
    if (is_float(got.value.dtype) != is_float(want.value.dtype) || is_complex(got.value.dtype) != is_complex(want.value.dtype))
      return "'" + got.name + "' is " + std::string(name(got.value.dtype)) + ", the reference " + std::string(name(want.value.dtype));
    if (want.integral() && got.value.dtype != want.value.dtype)
      return "'" + got.name + "' is " + std::string(name(got.value.dtype)) + ", not " + std::string(name(want.value.dtype));
  }
  return "";
}

// The reference must raise, else the spec is wrong; the device must, both times, and may not give a result instead.
void run_raising(const Executor& executor, const Prepared& prepared, ReferenceMaker& maker, CaseRecord& record) {
  const Observation reference = maker.evaluate([](std::size_t, std::size_t, double value) { return value; });
  if (reference.stage != "raised") {
    record.stage = "no_reference";
    record.message = "the reference is to raise, but it is " + reference.stage + ": " + reference.message;
    return;
  }
  for (int run = 0; run < 2 && (run == 0 || record.stage == "raised"); ++run) {
    const Observation observation = executor.run(prepared, device_inputs(prepared), maker.upstream());
    record.stage = observation.stage;
    record.message = observation.message;
    record.warnings.assign(observation.warnings.begin(), observation.warnings.end());
  }
}

}  // namespace

std::vector<at::Tensor> device_inputs(const Prepared& prepared) {
  std::vector<at::Tensor> inputs;
  for (const PreparedInput& input : prepared.inputs) inputs.push_back(to_tensor(input.buffer));
  return inputs;
}

Comparison compare_output(const Buffer& candidate, const ReferenceOutput& reference, double golden_required) {
  if (reference.bound == Bound::levels) return compare_levels(candidate.bytes, reference.value.bytes);
  if (reference.integral()) return compare_integers(candidate.dtype, candidate.bytes, reference.value.bytes);
  if (reference.bound == Bound::ensemble) return compare_ensemble(candidate, reference);
  if (reference.bound == Bound::ratio) return compare_ratio(candidate, reference, golden_required);
  return compare(candidate.dtype, candidate.bytes, reference.values, reference.units(), reference.bound);
}

double distance(const Buffer& a, const Buffer& b, const ReferenceOutput& reference) {
  if (a.bytes == b.bytes && a.shape == b.shape) return 0;
  if (a.shape != b.shape || a.dtype != b.dtype) return std::numeric_limits<double>::infinity();
  if (reference.bound == Bound::levels) return required(compare_levels(a.bytes, b.bytes), Bound::levels);
  if (reference.integral()) return required(compare_integers(a.dtype, a.bytes, b.bytes), Bound::exact);
  if (reference.bound == Bound::ensemble) return ensemble_distance(a, b, reference);
  if (reference.bound == Bound::ratio) return ratio_distance(a, b, reference);
  return required(compare(a.dtype, a.bytes, to_doubles(b), reference.units(), reference.bound), reference.bound);
}

GoldenRecord compare_golden(const GoldenOutput& golden, const Buffer& candidate, const ReferenceOutput& reference) {
  if (reference.bound == Bound::ensemble) return compare_golden_ensemble(golden, candidate, reference);
  if (reference.bound == Bound::ratio && !reference.integral()) return compare_golden_ratio(golden, candidate, reference);
  GoldenRecord record;
  record.spread = golden.spread;
  record.tf32_required = golden.tf32_required;
  const std::vector<std::int64_t> positions = sample_positions(reference.value.shape);
  const Buffer sample = take(candidate, positions);
  if (reference.bound == Bound::levels) {
    const Comparison own = compare_levels(golden.sample.bytes, take(reference.value, positions).bytes);
    record.required = std::max(golden.required, required(own, Bound::levels));
    record.direct = required(compare_levels(sample.bytes, golden.sample.bytes), Bound::levels);
    record.rms_error = own.rms_error;
    record.candidate_rms_error = compare_levels(sample.bytes, take(reference.value, positions).bytes).rms_error;
    return record;
  }
  if (reference.integral()) {
    record.required = required(compare_integers(golden.sample.dtype, golden.sample.bytes, take(reference.value, positions).bytes), Bound::exact);
    record.direct = required(compare_integers(sample.dtype, sample.bytes, golden.sample.bytes), Bound::exact);
    return record;
  }
  const SampledUnits sampled = sample_units(reference, positions);
  const Comparison own = compare(golden.sample.dtype, golden.sample.bytes, sampled.values, sampled.units, reference.bound);
  const Comparison candidate_own = compare(sample.dtype, sample.bytes, sampled.values, sampled.units, reference.bound);
  Units both_rounded = sampled.units;
  both_rounded.roundings = 2;
  const Comparison direct = compare(sample.dtype, sample.bytes, to_doubles(golden.sample), both_rounded, reference.bound);
  record.required = std::max(golden.required, required(own, reference.bound));
  record.direct = required(direct, reference.bound);
  record.rms_error = own.rms_error;
  record.candidate_rms_error = candidate_own.rms_error;

  std::vector<std::int64_t> kept;
  for (const std::size_t p : double_positions(positions.size())) kept.push_back(positions[p]);
  const SampledUnits at_kept = sample_units(reference, kept);
  const Buffer doubles = from_doubles(DType::f64, {static_cast<std::int64_t>(golden.doubles.size())}, golden.doubles);
  Units unrounded = at_kept.units;
  unrounded.rounded.reset();
  if (golden.doubles.size() == at_kept.values.size())
    record.reference_gap = required(compare(DType::f64, doubles.bytes, at_kept.values, unrounded, reference.bound), reference.bound);
  else
    record.reference_gap = std::numeric_limits<double>::infinity();
  return record;
}

Comparison compare_observations(const Buffer& candidate, const Buffer& other, const ReferenceOutput& reference) {
  if (reference.integral()) return compare_integers(candidate.dtype, candidate.bytes, other.bytes);
  Units units = reference.units();
  units.roundings = 2;
  return compare(candidate.dtype, candidate.bytes, to_doubles(other), units, reference.bound);
}

void compare_runs(const Case& c, const Observation& observation, const Observation& repeat, const Reference& reference, const GoldenSet* golden_set,
                  CaseRecord& record, std::map<std::string, Buffer>& last) {
  if (std::string problem = mismatch(observation, reference); !problem.empty()) {
    record.stage = "wrong_shape";
    record.message = std::move(problem);
    return;
  }

  const GoldenCase* golden = golden_set ? golden_set->find(c.row->family, record.id) : nullptr;
  record.golden_missing = golden == nullptr;
  record.golden_input_differs = golden && golden->input_digest != record.input_digest;
  for (std::size_t i = 0; i < observation.outputs.size(); ++i) {
    const Buffer& value = observation.outputs[i].value;
    const ReferenceOutput& truth = reference.outputs[i];
    OutputRecord output;
    output.name = truth.name;
    output.dtype = name(value.dtype);
    output.shape = value.shape;
    output.bound = truth.bound;
    const GoldenOutput* golden_output = golden && !record.golden_input_differs && i < golden->outputs.size() ? &golden->outputs[i] : nullptr;
    output.comparison = compare_output(value, truth, golden_output ? golden_output->required : 0);
    output.repeat_bitwise = i < repeat.outputs.size() && repeat.outputs[i].value.bytes == value.bytes;
    output.repeat = i < repeat.outputs.size() ? distance(repeat.outputs[i].value, value, truth) : std::numeric_limits<double>::infinity();
    if (golden && !record.golden_input_differs) {
      if (i >= golden->outputs.size() || golden->outputs[i].name != truth.name || golden->outputs[i].shape != value.shape ||
          golden->outputs[i].sample.dtype != value.dtype) {
        record.stage = "wrong_shape";
        record.message = "'" + truth.name + "' has another name, shape or dtype than the golden";
        record.outputs.clear();
        return;
      }
      output.golden = compare_golden(golden->outputs[i], value, truth);
    }
    last.emplace(truth.name, value);
    last.emplace(truth.name + "#reference", truth.value);
    record.outputs.push_back(std::move(output));
  }
}

Subject& Runner::subject_of(const Case& c) {
  Case plain = c;
  plain.twin = nullptr;
  std::string id = plain.id();
  if (!subject_ || subject_id_ != id) {
    subject_.reset();
    subject_ = std::make_unique<Subject>(prepare(plain));
    subject_id_ = std::move(id);
  }
  return *subject_;
}

CaseRecord Runner::run(const Case& c) {
  last_.clear();
  if (c.level() != SuiteLevel::op) return run_program_case(c);
  return c.canonical() ? run_canonical(c) : run_twin(c, subject_of(c), executor_);
}

CaseRecord Runner::run_canonical(const Case& c) {
  CaseRecord record;
  record.id = c.id();
  Stopwatch watch;
  subject_.reset();
  Prepared prepared = prepare(c);
  record.input_digest = hex(prepared.digest);
  record.micros[0] = watch.lap();

  if (c.arguments->law) {
    run_statistics(executor_.device(), prepared, record);
    record.micros[2] = watch.lap();
    return record;
  }
  if (c.arguments->raises) {
    ReferenceMaker maker(prepared);
    run_raising(executor_, prepared, maker, record);
    return record;
  }
  subject_ = std::make_unique<Subject>(std::move(prepared));
  subject_id_ = record.id;
  const Reference& reference = subject_->reference;
  record.micros[1] = watch.lap();
  if (!reference.ok) {
    record.stage = "no_reference";
    record.message = reference.message;
    return record;
  }
  record.inert = reference.inert;

  const Observation& observation = subject_->run_plain(executor_);
  Observation repeat;
  if (observation.stage == "done") repeat = executor_.run(subject_->prepared, subject_->inputs, subject_->maker->upstream());
  record.micros[2] = watch.lap();
  record.stage = observation.stage;
  record.message = observation.message;
  record.warnings.assign(observation.warnings.begin(), observation.warnings.end());
  if (observation.stage != "done") return record;
  if (repeat.stage != "done") {
    record.stage = repeat.stage;
    record.message = "second run: " + repeat.message;
    return record;
  }
  compare_runs(c, observation, repeat, reference, golden_, record, last_);
  record.micros[3] = watch.lap();
  return record;
}

}  // namespace driftgate
