#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "command.hpp"
#include "device/device.hpp"
#include "error.hpp"
#include "json.hpp"
#include "report/report.hpp"
#include "run/environment.hpp"
#include "run/error_trace.hpp"

namespace driftgate {
namespace {

constexpr std::size_t kShown = 10;

struct TraceCommand {
  Common common;
  std::string id, device = "cpu";
  Addition addition;
  bool json = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    const Case c = suite.find(id);
    const double limit = ToleranceTable::load(common.tolerances).row_for(c).limit;
    const Device where = parse_device(device);
    addition.open(device);
    if (!is_here(where)) return kInconclusive;
    open_device(where, false);
    const ErrorTrace trace = trace_error(c, where);
    if (json) print_json(trace, limit);
    else print(trace, limit);
    if (trace.stage != "done") return kInconclusive;
    return trace.first || !(trace.required <= limit) ? kDrift : kSound;
  }

  static Json to_json(const TracedCall& call) {
    return {{"op", call.op}, {"layer", call.layer}, {"direction", call.backward ? "backward" : "forward"}, {"local", number(call.local.required)}};
  }

  void print_json(const ErrorTrace& trace, double limit) const {
    Json calls = Json::array();
    for (const TracedCall& call : trace.calls)
      if (call.local.checked) calls.push_back(to_json(call));
    const Json first = trace.first ? to_json(trace.calls[*trace.first]) : Json();
    fmt::print("{}\n", Json{{"schema", "driftgate.trace/1"}, {"case", id}, {"device", device}, {"stage", trace.stage}, {"message", trace.message},
                            {"output", trace.output}, {"required", number(trace.required)}, {"limit", limit}, {"local_limit", kMostLocalError},
                            {"first", first}, {"substituted", number(trace.substituted)}, {"proven", proven(trace, limit)}, {"calls", calls}}.dump());
  }

  // With the named operator on the CPU, the program is within its limit.
  static bool proven(const ErrorTrace& trace, double limit) { return trace.first && !(trace.required <= limit) && trace.substituted <= limit; }

  void print(const ErrorTrace& trace, double limit) const {
    fmt::print("{} on {}: required {} of {} floors ({})\n", id, device, scientific(trace.required), limit, trace.output);
    if (trace.stage != "done") fmt::print("  {}: {}\n", trace.stage, trace.message);
    std::vector<const TracedCall*> worst;
    for (const TracedCall& call : trace.calls)
      if (call.local.checked) worst.push_back(&call);
    const std::size_t checked = worst.size();
    std::stable_sort(worst.begin(), worst.end(), [](const TracedCall* a, const TracedCall* b) { return a->local.required > b->local.required; });
    worst.resize(std::min(worst.size(), kShown));
    fmt::print("  {} calls, {} of them checked against fp64 from the device's own inputs; the largest errors added:\n", trace.calls.size(), checked);
    for (const TracedCall* call : worst)
      fmt::print("  {:>9}  {:<8} {:<40} {}\n", scientific(call->local.required), call->backward ? "backward" : "forward", call->op, call->layer);
    if (!trace.first) return void(fmt::print("no operator adds more than {} units: what error there is was inherited or summed up\n", kMostLocalError));
    const TracedCall& first = trace.calls[*trace.first];
    fmt::print("first to add an error: {} in {} ({}), {} units\n", first.op, first.layer.empty() ? "the model" : first.layer,
               first.backward ? "backward" : "forward", scientific(first.local.required));
    fmt::print("with it on the CPU and the rest on {}: required {}, {}\n", device, scientific(trace.substituted),
               proven(trace, limit) ? "proven" : trace.required <= limit ? "but the model was within its limit before" : "not the only cause");
  }
};

}  // namespace

void add_trace(CLI::App& app, Run& run, const Addition& addition) {
  auto options = std::make_shared<TraceCommand>();
  options->addition = addition;
  CLI::App* command = app.add_subcommand("trace", "the first operator of a model that adds an error, and the proof by substitution");
  options->common.add_to(*command);
  command->add_option("case", options->id, "the id of a case of level model")->required();
  command->add_option("--device", options->device, "cpu, mps or cuda");
  command->add_flag("--json", options->json, "one JSON object");
  addition.add_options(*command);
  command->footer("Exit code 1: an operator adds an error, or the model is over its limit.\n"
                  "Example: driftgate trace model.mlp/train/fp32/backward/canonical --device mps");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
