#pragma once
// Records and runs for the tests of evidence and of judging.
#include <limits>
#include <string>
#include <vector>

#include "evidence/evidence.hpp"

namespace driftgate {

inline constexpr double kInf = std::numeric_limits<double>::infinity();

// A record in which every member differs from a fresh one's.
inline CaseRecord full_record(const std::string& id) {
  OutputRecord output;
  output.name = "result";
  output.dtype = "f32";
  output.shape = {32, 0, 256};
  output.bound = Bound::linear;
  Comparison& c = output.comparison;
  c.count = 8192;
  c.differing = 100;
  c.nonfinite_mismatch = 3;
  c.required = {12, 0.1, 1.0 / 3.0, kInf};
  c.zeros_required = 5e-324;
  c.max_error = 0x1.fffffffffffffp-30;
  c.rms_error = 1e-7;
  c.rms_reference = 3.3;
  c.p999 = 2.2250738585072014e-308;
  c.worst = 17;
  c.worst_got = std::numeric_limits<double>::quiet_NaN();
  c.worst_want = -kInf;
  c.ulp_histogram = {8000, 0, 100, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4};
  output.golden = GoldenRecord{0.7, 0.8, 1e-8, 2e-8, 0.0, 5000.5, 1e-9};
  output.metrics = {{"cosine", -0.5}, {"kl_max", kInf}};
  output.repeat = 0.25;
  output.repeat_bitwise = false;

  CaseRecord record;
  record.id = id;
  record.stage = "raised";
  record.message = "a \"quoted\"\n\tmessage \\ with \x01 and ünïcode";
  record.input_digest = "0123456789abcdef0123456789abcdef";
  record.golden_missing = true;
  record.golden_input_differs = true;
  record.inert = {"weight", "bias"};
  record.warnings = {"slow"};
  record.observed = {{"f16", 12}, {"f32", 3}};
  record.observed_bits = 11;
  record.outputs = {output, output};
  record.outputs[1].name = "grad.self";
  record.micros = {1, 200, 30, 4};
  return record;
}

inline RunInfo run_of(std::vector<std::string> plan) {
  RunInfo run;
  run.device = "mps";
  run.environment = Json{{"torch", "2.13.0"}, {"host", {{"chip", "M4"}, {"macos", "26.1"}}}};
  run.golden = "h200_cu130_torch2.11.0";
  run.tool_version = "0.1.0";
  run.plan = std::move(plan);
  run.planned = static_cast<std::int64_t>(run.plan.size());
  run.plan_digest = plan_digest(run.plan);
  return run;
}

// A finished record without outputs.
inline CaseRecord short_record(const std::string& id, const std::string& message = "") {
  CaseRecord record;
  record.id = id;
  record.message = message;
  return record;
}

}  // namespace driftgate
