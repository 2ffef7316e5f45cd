// The rules that judgement.hpp lists, for one case.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include "judge/judgement.hpp"
#include "judge/training_verdict.hpp"
#include "tensor/dtype.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kFallback = "back to run on the CPU";  // both of LibTorch's warnings say so
constexpr double kReferenceGap = 0.01;                            // of a unit: two fp64 references of one case differ by far less
constexpr double kTf32Above = 10, kTf32Within = 8;                // what "the golden's tf32 error" means

double error_ratio(const GoldenRecord& golden) {
  if (golden.rms_error == 0 && golden.candidate_rms_error == 0) return 1;
  return golden.candidate_rms_error / golden.rms_error;
}

// One output and the numbers that it is judged by.
struct Judged {
  const OutputRecord* output;
  Tier asked;
  double strict_limit, limit, required;
  std::string beyond;                                   // the metric that the profile does not let pass
  bool empty_due;                                       // an input without elements: shape and type are the result

  bool zeros_pass() const { return output->comparison.zeros_required <= limit && !(empty_due && output->comparison.count == 0); }
  bool within() const { return required <= limit; }
  bool nonfinite() const { return output->comparison.nonfinite_mismatch > 0 || !std::isfinite(required); }
  bool held_out() const { return output->bound == Bound::ensemble && output->name == kHeldOut; }
  std::string failing() const { return nonfinite() ? "nonfinite" : held_out() ? "unfit" : "over_limit"; }
  bool near_golden() const { return !output->golden || output->golden->direct <= limit + output->golden->required; }
  bool golden_within() const { return !output->golden || (output->golden->required <= limit && output->golden->spread <= limit); }
  bool reference_agrees() const {
    if (!output->golden) return true;
    const auto dtype = parse_dtype(output->dtype);
    const bool integral = dtype && !is_float(*dtype) && !is_complex(*dtype);  // their reference is exact: no fp64 is stored
    return integral || output->golden->reference_gap <= (output->bound == Bound::exact ? 0 : kReferenceGap);
  }
};

bool has_empty_input(const Case& c) {
  const auto empty = [](const TensorArgument& tensor) { return numel(tensor.shape) == 0; };
  return std::any_of(c.arguments->arguments.begin(), c.arguments->arguments.end(), [&](const auto& argument) {
    if (const auto* tensor = std::get_if<TensorArgument>(&argument.second)) return empty(*tensor);
    const auto* list = std::get_if<std::vector<TensorArgument>>(&argument.second);
    return list && std::any_of(list->begin(), list->end(), empty);
  });
}

// The bounds of programs have units of their own in each policy: one limit, no second tier.
bool has_tiers(Bound bound) { return bound != Bound::exact && bound <= Bound::statistical; }

// fp32 shows no half format, and a half policy shows its own. An operator under autocast gives the half type (a gradient is cast back).
bool policy_observed(const CaseRecord& record, const Case& c) {
  if (c.level() == SuiteLevel::op && is_amp(c.policy) && c.direction == Direction::forward)
    return std::all_of(record.outputs.begin(), record.outputs.end(), [&](const OutputRecord& o) { return o.dtype == name(computed_dtype(c.policy)); });
  if (c.level() != SuiteLevel::model) return true;
  const auto shows = [&](DType dtype) { return record.observed.count(std::string(name(dtype))) > 0; };
  return c.policy == Policy::fp32 ? !shows(DType::f16) && !shows(DType::bf16) : shows(computed_dtype(c.policy));
}

// A row speaks of the case's bound. An exact output beside others (indices, a mask) counts differing elements: none may differ.
Judged judge_output(const OutputRecord& output, const Case& c, const ToleranceRow& row) {
  const bool counts_elements = output.bound == Bound::exact;
  if (output.bound == Bound::ensemble && output.name == kHeldOut)
    return {&output, Tier::strict, row.margin, row.margin, output.comparison.required[static_cast<std::size_t>(output.bound)], "", false};
  const double scale = output.bound == Bound::ratio && row.profile ? row.profile->scale : 1;
  const double strict = counts_elements && c.bound() != Bound::exact ? 0 : scale * row.limit_at(Tier::strict, c.policy);
  const double loose = row.limit_at(Tier::loose, c.policy);
  Tier asked = Tier::strict;
  if (has_tiers(output.bound) && c.policy != Policy::fp32) {
    const double golden = output.golden ? std::max(output.golden->required, output.golden->spread) : 0;
    const bool golden_is_loose = golden > strict && golden <= loose;
    if (row.tier == Tier::loose || golden_is_loose || !c.canonical()) asked = Tier::loose;
  }
  return {&output, asked, strict, asked == Tier::loose ? loose : strict,
          output.comparison.required[static_cast<std::size_t>(output.bound)],
          row.profile && c.direction == Direction::forward ? row.profile->first_beyond(output.metrics, c.policy) : "", has_empty_input(c)};
}

struct Outcome {
  State state;
  std::string reason;
  const Judged* by = nullptr;  // the output that decided
};

// What the record says before any number is looked at.
std::optional<Outcome> outcome_of_stage(const CaseRecord& record, const Case& c) {
  const bool must_raise = c.arguments->raises;
  constexpr std::array<std::string_view, 6> kFailing = {"crashed", "timed_out", "out_of_memory", "raised", "wrong_shape", "side_effect"};
  const bool due = must_raise && record.stage == "raised";
  if (!due && std::find(kFailing.begin(), kFailing.end(), record.stage) != kFailing.end()) return Outcome{State::fail, record.stage};
  if (record.stage == "unsupported") return Outcome{State::skip, record.stage};
  if (must_raise && record.stage == "done") return Outcome{State::fail, "no_error"};
  if (!due && record.stage != "done") return Outcome{State::error, record.stage};  // no_reference, not_executed
  for (const std::string& warning : record.warnings) {
    if (warning.find(kFallback) != std::string::npos) return Outcome{State::untrusted, "cpu_fallback"};
  }
  if (record.golden_input_differs) return Outcome{State::error, "golden_input_differs"};
  if (due) return Outcome{State::pass, ""};
  if (record.outputs.empty()) return Outcome{State::error, "no_output"};
  if (!record.inert.empty()) return Outcome{State::untrusted, "inert_input"};
  if (!policy_observed(record, c)) return Outcome{State::untrusted, "policy_not_observed"};
  return std::nullopt;
}

// outputs: worst first, so that the one named is the worst for which the rule holds.
Outcome outcome_of_numbers(const CaseRecord& record, const std::vector<Judged>& outputs, bool needs_golden) {
  const auto first_not = [&](bool (Judged::*holds)() const) -> const Judged* {
    const auto found = std::find_if(outputs.begin(), outputs.end(), [&](const Judged& o) { return !(o.*holds)(); });
    return found == outputs.end() ? nullptr : &*found;
  };
  const bool trajectories = std::any_of(outputs.begin(), outputs.end(), [](const Judged& o) { return o.output->bound == Bound::ensemble; });
  if (trajectories && record.golden_missing) return {State::untrusted, "golden_missing"};
  if (!first_not(&Judged::zeros_pass)) return {State::untrusted, "zeros_would_pass"};
  if (const Judged* by = first_not(&Judged::reference_agrees)) return {State::untrusted, "reference_disagrees", by};
  if (const Judged* by = first_not(&Judged::golden_within)) return {State::untrusted, "golden_over_limit", by};
  if (const Judged* by = first_not(&Judged::within)) return {State::fail, by->failing(), by};
  for (const Judged& output : outputs)
    if (!output.beyond.empty()) return {State::fail, output.beyond, &output};
  if (const Judged* by = first_not(&Judged::near_golden)) return {State::fail, "golden_distance", by};
  if (!needs_golden) return {State::pass, ""};
  const bool compared = std::all_of(outputs.begin(), outputs.end(), [](const Judged& o) { return o.output->golden.has_value(); });
  const bool by_law = outputs.front().output->bound == Bound::statistical;  // samples follow a law, not another device's samples
  if (!by_law && (record.golden_missing || !compared)) return {State::untrusted, "golden_missing"};
  return {State::pass, ""};
}

bool is_tf32_class(const Judgement& j, const Judged& worst) {
  if (j.policy != Policy::fp32 || j.state != State::fail || !worst.output->golden) return false;
  const double tf32 = worst.output->golden->tf32_required;  // absent: no comparison with it holds
  return tf32 > kTf32Above * worst.limit && worst.required >= tf32 / kTf32Within && worst.required <= tf32 * kTf32Within;
}

State judge_repeat(const std::vector<Judged>& outputs, bool bitwise) {
  if (outputs.empty()) return State::skip;
  const bool same = std::all_of(outputs.begin(), outputs.end(), [&](const Judged& o) {
    return o.output->repeat_bitwise || (!bitwise && o.output->repeat <= o.limit);
  });
  return same ? State::pass : State::fail;
}

Judgement start(const Case& c, const ToleranceRow& row) {
  Judgement j;
  j.id = c.id();
  j.family = c.row->family;
  j.policy = c.policy;
  j.direction = c.direction;
  j.tier = c.tier;
  j.level = c.level();
  j.row = &row;
  j.blunt = row.blunt;
  j.reached = Tier::loose;
  j.repeats = c.canonical() || c.twin->kind == TwinKind::repeat;
  j.repeat = State::skip;
  return j;
}

}  // namespace

double limit_share(double required, double limit) {
  if (std::isnan(required) || std::isnan(limit)) return std::numeric_limits<double>::infinity();
  return required == 0 ? 0 : required / limit;
}

Judgement judge_case(const CaseRecord& record, const Case& c, const ToleranceRow& row) {
  Judgement j = start(c, row);
  std::vector<Judged> outputs;
  for (const OutputRecord& output : record.outputs) outputs.push_back(judge_output(output, c, row));
  std::stable_sort(outputs.begin(), outputs.end(), [](const Judged& a, const Judged& b) {
    return limit_share(a.required, a.limit) > limit_share(b.required, b.limit);
  });

  const std::optional<Outcome> early = outcome_of_stage(record, c);
  const Outcome outcome = early ? *early : outcome_of_numbers(record, outputs, c.canonical());
  j.state = outcome.state;
  j.reason = outcome.reason;
  if (outputs.empty()) {
    if (j.state == State::pass) j.repeat = State::pass;   // it raised both times
    return j;
  }

  const auto is_loose = [](const Judged& o) { return o.asked == Tier::loose; };
  const auto is_strict = [](const Judged& o) { return o.required <= o.strict_limit; };
  j.asked = std::any_of(outputs.begin(), outputs.end(), is_loose) ? Tier::loose : Tier::strict;
  j.reached = std::all_of(outputs.begin(), outputs.end(), is_strict) ? Tier::strict : Tier::loose;
  j.blunt = row.blunt || j.reached == Tier::loose;
  j.repeat = j.repeats ? judge_repeat(outputs, c.row->repeat_bitwise) : State::skip;

  const Judged& shown = outcome.by ? *outcome.by : outputs.front();
  j.output = shown.output->name;
  j.required = shown.required;
  j.limit = shown.limit;
  if (shown.output->golden) {
    j.golden_required = shown.output->golden->required;
    j.ratio = error_ratio(*shown.output->golden);
  }
  j.tf32_class = is_tf32_class(j, shown);
  j.training = training_verdict(record, c, row);
  return j;
}

}  // namespace driftgate
