#include <set>

#include <fmt/format.h>

#include "judge/decision.hpp"
#include "judge/legs.hpp"

namespace driftgate {
namespace {

constexpr std::size_t kMostExceptions = 5;              // more is no exception

std::string op_of(const Judgement& judgement) { return judgement.id.substr(0, judgement.id.find('/')); }

bool of_operator(const Judgement& judgement, Policy policy) { return judgement.policy == policy && judgement.level == SuiteLevel::op; }

}  // namespace

std::string cpu_exceptions(const Decision& decision, const JudgedRun& run, const Suite& suite, const DecisionRules& rules) {
  std::set<std::string> ops;
  for (const Judgement& judgement : run.judgements)
    if (of_operator(judgement, decision.policy) && (judgement.state == State::fail || judgement.repeat == State::fail)) ops.insert(op_of(judgement));
  if (ops.empty() || ops.size() > kMostExceptions) return "";
  JudgedRun rest{run.run, {}, run.counts};
  for (const Judgement& judgement : run.judgements)
    if (!of_operator(judgement, decision.policy) || ops.count(op_of(judgement)) == 0) rest.judgements.push_back(judgement);
  const Decision without = conclude(decision.policy, legs_of(decision.policy, rest, suite, rules), rules);
  if (without.level <= decision.level) return "";
  return fmt::format("or run {} on the CPU: all else earns {}", fmt::join(ops, ", "), name(without.level));
}

}  // namespace driftgate
