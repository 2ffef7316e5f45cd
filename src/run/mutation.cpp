#include "run/mutation.hpp"

#include <map>
#include <optional>
#include <set>

#include "compare/mutant.hpp"
#include "error.hpp"
#include "run/runnable.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

constexpr int kTf32Bits = 11, kBf16Bits = 8, kFp8Bits = 4;

DType stored_dtype(const ReferenceOutput& reference, Policy policy) {
  if (reference.value.dtype == DType::f64) return computed_dtype(policy);
  if (reference.value.dtype == DType::c128) return DType::c64;
  return reference.value.dtype;
}

// A program's error comes from its operators, so its next lower precision is that of its inputs.
Mutant lower_precision(const Case& c) {
  if (c.policy == Policy::fp32) return Mutant::tf32_inputs;
  if (c.level() == SuiteLevel::op) return Mutant::lost_bits;
  return computed_dtype(c.policy) == DType::f16 ? Mutant::bf16_inputs : Mutant::fp8_inputs;
}

Buffer good_output(const ReferenceOutput& reference, Policy policy) {
  if (reference.integral()) return reference.value;
  return from_doubles(stored_dtype(reference, policy), reference.value.shape, reference.values);
}

bool accepted(const std::vector<Buffer>& outputs, const Reference& reference, const ToleranceRow& row, Policy policy) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const ReferenceOutput& truth = reference.outputs[i];
    const double limit = row.limit_at(truth.bound == Bound::exact ? Tier::strict : row.tier, policy);
    if (!(compare_output(outputs[i], truth).required[static_cast<std::size_t>(truth.bound)] <= limit)) return false;
  }
  return true;
}

// The case's inputs seen through a fault: fewer bits, or without their last slice.
std::optional<std::vector<Buffer>> from_faulty_inputs(Mutant mutant, Runnable& runnable, const Reference& reference) {
  const Case& c = runnable.source();
  const std::vector<PreparedInput>& inputs = runnable.inputs();
  if (mutant == Mutant::drop_last_term && c.bound() != Bound::linear && c.bound() != Bound::general) return std::nullopt;
  if (mutant == Mutant::tf32_inputs && c.policy != Policy::fp32) return std::nullopt;
  if (mutant == Mutant::fp8_inputs && lower_precision(c) != mutant) return std::nullopt;
  if (mutant == Mutant::bf16_inputs && lower_precision(c) == Mutant::fp8_inputs) return std::nullopt;   // the policy's own
  const auto first = std::find_if(inputs.begin(), inputs.end(), [](const PreparedInput& i) { return i.floating; });
  const std::size_t dropped = static_cast<std::size_t>(first - inputs.begin());
  const Observation faulty = runnable.evaluate([&](std::size_t input, std::size_t element, double value) {
    if (mutant == Mutant::tf32_inputs) return round_to_bits(value, kTf32Bits);
    if (mutant == Mutant::fp8_inputs) return round_to_bits(value, kFp8Bits);
    if (mutant == Mutant::bf16_inputs) return round_to_bits(value, kBf16Bits);
    if (input != dropped || inputs[input].buffer.shape.empty()) return value;
    const auto last = static_cast<std::size_t>(inputs[input].buffer.shape.back());
    const std::size_t per = is_complex(inputs[input].buffer.dtype) ? 2 : 1;
    return element / per % last == last - 1 ? 0.0 : value;
  });
  if (faulty.stage != "done" || faulty.outputs.size() != reference.outputs.size()) return std::nullopt;
  std::vector<Buffer> outputs;
  for (std::size_t i = 0; i < faulty.outputs.size(); ++i) {
    const ReferenceOutput& truth = reference.outputs[i];
    if (faulty.outputs[i].value.shape != truth.value.shape) return std::nullopt;
    outputs.push_back(truth.integral() ? faulty.outputs[i].value
                                       : from_doubles(stored_dtype(truth, c.policy), truth.value.shape, to_doubles(faulty.outputs[i].value)));
  }
  return outputs;
}

std::vector<Buffer> from_outputs(Mutant mutant, const std::vector<Buffer>& good, const Reference& reference) {
  std::vector<Buffer> outputs = good;
  for (std::size_t i = 0; i < good.size(); ++i) {
    const std::vector<double> values = reference.outputs[i].integral() ? to_doubles(good[i]) : reference.outputs[i].values;
    if (std::optional<Buffer> changed = mutate(mutant, good[i], values)) outputs[i] = std::move(*changed);
  }
  return outputs;
}

bool same(const std::vector<Buffer>& a, const std::vector<Buffer>& b) {
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a[i].bytes != b[i].bytes) return false;
  return true;
}

void mutate_case(const Case& c, const ToleranceRow& row, RowMutation& into) {
  const std::unique_ptr<Runnable> runnable = make_runnable(c);
  const Reference reference = runnable->reference();
  if (!reference.ok) throw Error("no_reference", c.row->file + ": " + c.id(), reference.message);
  std::vector<Buffer> good;
  for (const ReferenceOutput& output : reference.outputs) good.push_back(good_output(output, c.policy));
  if (!accepted(good, reference, row, c.policy))
    throw Error("good_rejected", row.file + ": " + row.name, "rejects the correctly rounded result of " + c.id());
  ++into.cases;
  const Mutant lower = lower_precision(c);
  for (const Mutant mutant : all_mutants()) {
    if (mutant == Mutant::lost_bits && c.policy == Policy::fp32) continue;      // within what an honest fp32 function may lose
    const bool last_rounding = mutant == Mutant::lost_bits || mutant == Mutant::truncated;
    if (last_rounding && c.level() != SuiteLevel::op) continue;                 // within the many roundings that a program's unit is made of
    std::optional<std::vector<Buffer>> bad =
        needs_inputs(mutant) ? from_faulty_inputs(mutant, *runnable, reference) : from_outputs(mutant, good, reference);
    if (!bad || same(*bad, good)) continue;
    const bool rejected = !accepted(*bad, reference, row, c.policy);
    ++into.applied;
    into.rejected += rejected;
    if (mutant == lower) {
      ++into.lower_applied;
      into.lower_rejected += rejected;
    }
    if (!rejected) into.survivors.push_back(std::string(name(mutant)) + " " + c.id());
  }
}

}  // namespace

std::vector<RowMutation> mutate_rows(const std::vector<Case>& cases, const ToleranceTable& table, const MutationProgress& progress) {
  std::map<std::string, RowMutation> by_row;
  std::map<std::string, std::set<std::string>> families;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    progress(n, cases.size());
    if (cases[n].bound() == Bound::ensemble) continue;     // proven by faults in the run itself: tests/unit/torch/training_test.cpp
    if (!cases[n].compared() || !not_installed(cases[n]).empty()) continue;
    const ToleranceRow& row = table.row_for(cases[n]);
    families[row.name].insert(cases[n].row->family);
    mutate_case(cases[n], row, by_row[row.name]);
  }
  std::vector<RowMutation> rows;
  for (const ToleranceRow& row : table.rows()) {
    const auto found = by_row.find(row.name);
    if (found == by_row.end()) continue;
    RowMutation mutation = std::move(found->second);
    mutation.row = row.name;
    for (const std::string& family : families[row.name]) mutation.families += (mutation.families.empty() ? "" : " ") + family;
    rows.push_back(std::move(mutation));
  }
  return rows;
}

}  // namespace driftgate
