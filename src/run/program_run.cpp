// The runner's road for programs: beside the comparison, what is said of a model, and the policy observed.
#include "compare/metrics.hpp"
#include "run/observed.hpp"
#include "run/program_case.hpp"
#include "run/runnable.hpp"
#include "run/runner.hpp"
#include "run/stopwatch.hpp"

namespace driftgate {
namespace {

void add_metrics(const Reference& reference, const std::map<std::string, Buffer>& values, CaseRecord& record) {
  for (std::size_t i = 0; i < record.outputs.size(); ++i) {
    const ReferenceOutput& truth = reference.outputs[i];
    if (truth.bound != Bound::ratio) continue;
    const std::size_t classes = truth.name == "logits" ? static_cast<std::size_t>(truth.value.shape.back()) : 0;
    record.outputs[i].metrics = measure_output(to_doubles(values.at(truth.name)), truth.values, classes);
    record.outputs[i].metrics["floor"] = truth.floor;
  }
}

}  // namespace

CaseRecord Runner::run_program_case(const Case& c) {
  CaseRecord record;
  record.id = c.id();
  Stopwatch watch;
  if (record.message = not_installed(c); !record.message.empty()) {
    record.stage = "unsupported";
    return record;
  }
  const PreparedProgram prepared = prepare_program(c);
  record.input_digest = hex(prepared.digest);
  record.micros[0] = watch.lap();
  const Reference reference = program_reference(prepared);
  record.micros[1] = watch.lap();
  if (!reference.ok) {
    record.stage = "no_reference";
    record.message = reference.message;
    return record;
  }
  Observation observation, repeat;
  {
    const DtypeCapture capture(record.observed);
    observation = run_program(prepared, executor_.device());
  }
  if (observation.stage == "done") repeat = run_program(prepared, executor_.device());
  record.observed_bits = significant_bits(executor_.device(), c.policy);
  record.micros[2] = watch.lap();
  const Observation& ended = observation.stage == "done" ? repeat : observation;
  record.stage = ended.stage;
  record.message = ended.message;
  record.warnings.assign(observation.warnings.begin(), observation.warnings.end());
  if (record.stage != "done") return record;
  compare_runs(c, observation, repeat, reference, golden_, record, last_);
  add_metrics(reference, last_, record);
  record.micros[3] = watch.lap();
  return record;
}

}  // namespace driftgate
