// `decide --demand`: what a user asks for beside a level.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "error.hpp"
#include "judge/decision.hpp"

namespace driftgate {
namespace {

// Why the demand is not met; empty where it is.
std::string unmet(const DemandRule& rule, Policy policy, const JudgedRun& run) {
  const Judgement* worst = nullptr;
  bool any = false;
  for (const Judgement& judgement : run.judgements) {
    if (judgement.policy != policy || judgement.level != SuiteLevel::training || judgement.row == nullptr) continue;
    if (!judgement.training) continue;
    any = true;
    const double gap = judgement.training->loss_gap;
    if (gap <= rule.margin) continue;
    if (worst == nullptr || std::isnan(gap) || gap > worst->training->loss_gap) worst = &judgement;
  }
  if (!any) return "no training run was compared with the golden's loss curve";
  if (worst == nullptr) return "";
  return fmt::format("the loss curve of {} is {:.2g} of the golden's away from it, {:.2g} is the margin", worst->id, worst->training->loss_gap, rule.margin);
}

}  // namespace

void apply_demand(const std::string& demand, const JudgedRun& run, const DecisionRules& rules, std::vector<Decision>& decisions) {
  const auto rule = std::find_if(rules.demands.begin(), rules.demands.end(), [&](const DemandRule& r) { return r.name == demand; });
  if (rule == rules.demands.end()) throw Error("unknown_demand", "--demand " + demand, "tolerances/decision.json has no such demand", "bitwise_loss");
  for (Decision& decision : decisions) {
    const std::string why = unmet(*rule, decision.policy, run);
    if (why.empty()) {
      decision.demand = demand + " is met";
      continue;
    }
    decision.demand = fmt::format("{} caps it at {}: {}; {}", demand, name(rule->cap), why, rule->why);
    decision.level = std::min(decision.level, rule->cap);
    decision.open = std::min(decision.open, rule->cap);
  }
}

}  // namespace driftgate
