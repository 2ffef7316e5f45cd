#pragma once
// A small suite, a table for it, and records that pass: the tests of judging change one thing at a time.
#include <string>
#include <vector>

#include "evidence_records.hpp"
#include "judge/judgement.hpp"

namespace driftgate {

// Canonical cases only: twins are judged by the same rules.
inline Row spec_row(const std::string& family, Bound bound) {
  Row row;
  row.no_twins = {"*"};
  row.family = family;
  row.ops = {"aten::" + family + ".int"};
  row.bound_forward = row.bound_backward = bound;
  row.directions = {Direction::forward, Direction::backward};
  ArgumentSet set;
  set.name = "wide";
  set.policies = {Policy::fp32, Policy::fp16, Policy::bf16, Policy::amp_fp16, Policy::amp_bf16};
  row.cases = {set};
  return row;
}

// softmax (general), copy (exact), scatter (general, with atomics).
inline const Suite& small_suite() {
  static const Suite suite([] {
    std::vector<Row> rows = {spec_row("softmax", Bound::general), spec_row("copy", Bound::exact), spec_row("scatter", Bound::general)};
    rows[2].repeat_bitwise = false;
    return rows;
  }());
  return suite;
}

inline std::string id_of(const std::string& family, const std::string& policy) { return family + ".int/wide/" + policy + "/forward/canonical"; }

inline ToleranceRow row_of(const std::string& name, double limit) {
  ToleranceRow row;
  row.name = name;
  row.limit = limit;
  return row;
}

// An output that needs `required`, with a golden that needs 1.
inline OutputRecord output_of(Bound bound, double required, const std::string& name = "result") {
  const auto b = static_cast<std::size_t>(bound);
  OutputRecord output;
  output.name = name;
  output.dtype = "f32";
  output.shape = {8};
  output.bound = bound;
  output.comparison.count = 8;
  output.comparison.required[b] = required;
  output.comparison.zeros_required = 1e9;
  output.golden.emplace();
  output.golden->required = bound == Bound::exact ? 0 : 1;
  output.golden->direct = required;
  output.golden->rms_error = 1e-8;
  output.golden->candidate_rms_error = 3e-8;
  output.golden->spread = 0;
  output.golden->reference_gap = 0;
  return output;
}

inline CaseRecord record_of(const std::string& id, std::vector<OutputRecord> outputs) {
  CaseRecord record;
  record.id = id;
  record.outputs = std::move(outputs);
  return record;
}

// The state and the reason of one record under a row: "pass", "fail over_limit", …
inline std::string verdict(const Judgement& judgement) {
  return std::string(name(judgement.state)) + (judgement.reason.empty() ? "" : " " + judgement.reason);
}

inline Judgement judge_one(const CaseRecord& record, const ToleranceRow& row) {
  return judge_case(record, small_suite().find(record.id), row);
}

}  // namespace driftgate
