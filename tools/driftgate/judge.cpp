#include <cstdio>

#include "command.hpp"
#include "report/console.hpp"
#include "report/json.hpp"

namespace driftgate {
namespace {

struct Judge {
  Common common;
  EvidenceArguments evidence;
  std::string profile = "standard";
  bool json = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances, profile);
    const JudgedRun judged = judge(evidence.read(), suite, table);
    std::fputs((json ? to_judge_json({judged, {}}) : to_console({judged, {}})).c_str(), stdout);
    return exit_code(judged, {}, std::nullopt);
  }
};

}  // namespace

void add_judge(CLI::App& app, Run& run) {
  auto options = std::make_shared<Judge>();
  CLI::App* command = app.add_subcommand("judge", "apply the tables to evidence and print the deviations, worst first");
  options->common.add_to(*command);
  options->evidence.add_to(*command);
  command->add_option("--profile", options->profile, "how strictly models are judged: strict, standard or relaxed");
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Example: driftgate judge evidence --json");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
