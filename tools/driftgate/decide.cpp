#include <algorithm>
#include <cstdio>

#include "command.hpp"
#include "report/console.hpp"
#include "report/json.hpp"

namespace driftgate {
namespace {

struct Decide {
  Common common;
  EvidenceArguments evidence;
  std::string profile = "standard";
  std::vector<std::string> policies;
  std::string require, demand;
  bool json = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances, profile);
    const DecisionRules rules = DecisionRules::load(common.tolerances / "decision.json");
    std::optional<Level> required;
    if (!require.empty()) required = parse_level(require, "--require");
    std::vector<Policy> wanted;
    for (const std::string& policy : policies) wanted.push_back(parse_policy(policy, "--policy"));
    const JudgedRun judged = judge(evidence.read(), suite, table);
    std::vector<Decision> decisions = decide(judged, suite, rules);
    if (!demand.empty()) apply_demand(demand, judged, rules, decisions);
    if (!wanted.empty())
      std::erase_if(decisions, [&](const Decision& d) { return std::find(wanted.begin(), wanted.end(), d.policy) == wanted.end(); });
    std::fputs((json ? to_decide_json({judged, decisions}) : to_console({judged, decisions})).c_str(), stdout);
    return exit_code(judged, decisions, required);
  }
};

}  // namespace

void add_decide(CLI::App& app, Run& run) {
  auto options = std::make_shared<Decide>();
  CLI::App* command = app.add_subcommand("decide", "the decision for each policy and the chain that leads to it");
  options->common.add_to(*command);
  options->evidence.add_to(*command);
  command->add_option("--profile", options->profile, "how strictly models are judged: strict, standard or relaxed");
  command->add_option("--policy", options->policies, "only these policies")->allow_extra_args(false);
  command->add_option("--require", options->require, "training, inference or preprocessing: exit 0 earned, 1 refused, 3 not proven");
  command->add_option("--demand", options->demand, "bitwise_loss: what is asked for beside a level caps the decision where it is not met");
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Example: driftgate decide evidence --require inference --policy fp16");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
