#include <fmt/format.h>

#include <cstdio>

#include "command.hpp"
#include "report/report.hpp"
#include "run/runnable.hpp"

namespace driftgate {
namespace {

struct Explain {
  Common common;
  std::string id;
  std::filesystem::path evidence;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances);
    const Case c = suite.find(id);
    const ToleranceRow& row = table.row_for(c);
    const std::unique_ptr<Runnable> runnable = make_runnable(c);
    fmt::print("{}\n  {:<10} {}   family {}   {}\n", id, c.level() == SuiteLevel::op ? "operator" : "program", c.row->ops[c.op], c.row->family, c.row->file);
    if (const std::string& why = c.arguments->why.empty() ? c.row->why : c.arguments->why; !why.empty()) fmt::print("  provokes   {}\n", why);
    for (const auto& [name, argument] : c.arguments->arguments)
      if (const Json* value = std::get_if<Json>(&argument)) fmt::print("  argument   {} = {}\n", name, value->dump());
    for (const PreparedInput& input : runnable->inputs())
      fmt::print("  input      {} {} {} {}   digest {}{}\n", input.name, driftgate::name(input.buffer.dtype), Json(input.buffer.shape).dump(),
                 to_string(input.fill), hex(digest(input.buffer)), input.differentiated ? "   differentiated" : "");
    const Allowance& allow = c.direction == Direction::forward ? c.row->allow : c.row->allow_backward;
    fmt::print("  bound      {}{}\n", driftgate::name(c.bound()), allow.any() ? "   with an allowance: " + allow.why : "");
    fmt::print("  row        {}   limit {} ({}), tier {}\n  why        {}\n", row.name, scientific(row.limit_at(row.tier, c.policy)), row.file,
               driftgate::name(row.tier), row.why);
    for (const auto& [device, value] : row.measured) fmt::print("  measured   {:<14} {}\n", device, scientific(value));
    fmt::print("  witness    {}\n  kill rate  {}{}\n", row.witness, row.kill_rate < 0 ? "not measured" : fmt::format("{:.3f}", row.kill_rate),
               row.blunt ? "   blunt: it cannot reject the next lower precision" : "");
    fmt::print("  repeat     driftgate run --device D --out evidence '{}'\n", id);
    return evidence.empty() ? kSound : last_evidence(suite, table);
  }

  int last_evidence(const Suite& suite, const ToleranceTable& table) const {
    const JudgedRun judged = judge(read_evidence(evidence), suite, table);
    for (const Judgement& judgement : judged.judgements)
      if (judgement.id == id) {
        fmt::print("  evidence   {}: {} {} on {}, required {} of {}, the golden's own {}\n", evidence.string(), driftgate::name(judgement.state),
                   judgement.reason, judged.run.device, scientific(judgement.required), scientific(judgement.limit),
                   scientific(judgement.golden_required));
        return kSound;
      }
    fmt::print("  evidence   {} has no such case\n", evidence.string());
    return kInconclusive;
  }
};

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto options = std::make_shared<Explain>();
  CLI::App* command = app.add_subcommand("explain", "a case: inputs, bound, row and its why, how to repeat it");
  options->common.add_to(*command);
  command->add_option("id", options->id, "a case id")->required();
  command->add_option("--evidence", options->evidence, "also what this folder says about it");
  command->footer("Example: driftgate explain softmax.int/wide/fp32/forward/canonical");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
