#include "judge/legs.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include <fmt/format.h>

namespace driftgate {
namespace {

constexpr std::size_t kNamed = 3;  // of a list of families or reasons; the rest is a number

using Tally = std::map<std::string, std::int64_t>;
using Part = std::pair<SuiteLevel, Direction>;

// The legs that are the cases of one level in one direction.
const std::map<std::string, Part> kParts = {{"operators.forward", {SuiteLevel::op, Direction::forward}},
                                            {"operators.backward", {SuiteLevel::op, Direction::backward}},
                                            {"models.forward", {SuiteLevel::model, Direction::forward}},
                                            {"models.backward", {SuiteLevel::model, Direction::backward}},
                                            {"training", {SuiteLevel::training, Direction::backward}},
                                            {"preprocessing", {SuiteLevel::preprocess, Direction::forward}}};

bool was_executed(const Judgement& judgement) { return judgement.state != State::skip && judgement.reason != "not_executed"; }

template <typename Strings>
std::string joined(const Strings& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// "softmax 12, sort 3, topk 1 and 2 more": the largest first.
std::string largest(const Tally& tally) {
  std::vector<std::pair<std::string, std::int64_t>> items(tally.begin(), tally.end());
  std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> words;
  for (const auto& [word, n] : items)
    if (words.size() < kNamed) words.push_back(fmt::format("{} {}", word, n));
  const std::string rest = items.size() > kNamed ? fmt::format(" and {} more", items.size() - kNamed) : "";
  return joined(words) + rest;
}

// What one leg saw of one policy.
struct LegTally {
  Counts counts;
  std::int64_t sharp = 0;
  Tally failing;  // by family
  Tally idle;     // neither passed nor failed, by reason

  void add(State state, bool executed, const std::string& family, const std::string& reason) {
    ++counts.planned;
    counts.executed += executed ? 1 : 0;
    switch (state) {
      case State::pass:
        ++counts.pass;
        return;
      case State::approved:
        ++counts.approved;
        return;
      case State::fail:
        ++counts.fail;
        ++failing[family];
        return;
      case State::skip:
        ++counts.skip;
        break;
      case State::untrusted:
        ++counts.untrusted;
        break;
      case State::error:
        ++counts.error;
        break;
    }
    ++idle[reason];
  }

  void add(const Judgement& judgement) {
    add(judgement.state, was_executed(judgement), judgement.family, judgement.reason);
    sharp += judgement.state == State::pass && !judgement.blunt ? 1 : 0;
  }

  // A case that proves nothing proves no determinism either, but two runs that differ are a fail whatever they were.
  void add_repeat(const Judgement& judgement) {
    const bool executed = was_executed(judgement);
    if (executed && judgement.repeat == State::fail) return add(State::fail, true, judgement.family, "");
    if (!executed || judgement.state == State::untrusted || judgement.state == State::error)
      return add(judgement.state, executed, judgement.family, judgement.reason);
    const bool repeated = judgement.repeat != State::skip;
    add(judgement.repeat, repeated, judgement.family, repeated ? judgement.reason : "nothing to repeat");
  }
};

Leg leg_with(const LegTally& tally, std::string state, std::string why) {
  return Leg{std::move(state), std::move(why), tally.counts, tally.sharp};
}

Leg judged_leg(const LegRule& rule, const LegTally& tally) {
  const Counts& n = tally.counts;
  const std::int64_t passed = n.pass + n.approved;
  const std::string idle = tally.idle.empty() ? "" : fmt::format(" ({})", largest(tally.idle));
  if (n.fail > 0) return leg_with(tally, "fail", fmt::format("{} of {} fail ({})", n.fail, n.planned, largest(tally.failing)));
  if (n.planned == 0) return leg_with(tally, "missing", "no case was planned");
  if (n.executed == 0) return leg_with(tally, "missing", fmt::format("none of {} cases was executed{}", n.planned, idle));
  if (n.error > 0) return leg_with(tally, "unproven", fmt::format("{} of {} are errors{}", n.error, n.planned, idle));
  if (!(share(n.executed, n.planned) >= rule.least_executed))
    return leg_with(
        tally, "unproven",
        fmt::format("{} of {} executed{}, at least {:.3g} % needed", n.executed, n.planned, idle, 100 * rule.least_executed));
  if (passed == 0 || !(share(passed, n.planned) >= rule.least_passed))
    return leg_with(tally, "unproven",
                    fmt::format("{} of {} pass{}, at least {:.3g} % needed", passed, n.planned, idle, 100 * rule.least_passed));
  return leg_with(tally, "pass", fmt::format("{} of {} pass", passed, n.planned));
}

// Failures are the operators' business: coverage asks only how much of the suite was looked at.
Leg coverage_leg(const LegRule& rule, const LegTally& tally, const std::set<std::string>& families,
                 const std::set<std::string>& passed) {
  const Counts& n = tally.counts;
  if (n.planned == 0) return leg_with(tally, "missing", "the suite has no case of this policy");
  if (n.executed == 0) return leg_with(tally, "missing", "no case was executed");
  if (!(share(n.executed, n.planned) >= rule.least_executed))
    return leg_with(tally, "unproven",
                    fmt::format("{} of the suite's {} cases executed, at least {:.3g} % needed", n.executed, n.planned,
                                100 * rule.least_executed));
  std::vector<std::string> without;
  std::set_difference(families.begin(), families.end(), passed.begin(), passed.end(), std::back_inserter(without));
  const auto all = static_cast<std::int64_t>(families.size()), covered = all - static_cast<std::int64_t>(without.size());
  if (covered == 0 || !(share(covered, all) >= rule.least_families)) {
    const std::string rest = without.size() > kNamed ? fmt::format(" and {} more", without.size() - kNamed) : "";
    without.resize(std::min(without.size(), kNamed));
    return leg_with(tally, "unproven",
                    fmt::format("{} of {} families have a pass, at least {:.3g} % needed; without: {}{}", covered, all,
                                100 * rule.least_families, joined(without), rest));
  }
  return leg_with(tally, "pass", fmt::format("{} of {} families have a pass", covered, all));
}

std::string text(const Json& object, const char* key) {
  const auto value = object.is_object() ? object.find(key) : object.end();
  return value != object.end() && value->is_string() ? value->get<std::string>() : "";
}

Leg gate_leg(const RunInfo& run) {
  const Json* checks = gate_checks(run);
  LegTally tally;
  if (checks == nullptr) return leg_with(tally, "missing", "the gate could not look at the device");
  std::vector<std::string> broken;
  for (const Json& check : *checks) {
    const bool ok = check.is_object() && check.contains("ok") && check["ok"] == Json(true);
    tally.add(ok ? State::pass : State::fail, true, "gate", "");
    if (!ok) broken.push_back(fmt::format("{}: {}", text(check, "name"), text(check, "detail")));
  }
  if (!broken.empty()) return leg_with(tally, "fail", fmt::format("{}", fmt::join(broken, "; ")));
  const auto host = run.environment.find("host");
  if (host != run.environment.end() && host->is_object() && host->contains("virtual") && (*host)["virtual"] == Json(true))
    return leg_with(tally, "unproven", "a virtual machine: a smoke test, no evidence for a level");
  return leg_with(tally, "pass", fmt::format("{} checks hold", tally.counts.pass));
}

}  // namespace

double share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

const Json* gate_checks(const RunInfo& run) {
  if (!run.environment.is_object()) return nullptr;
  const auto gate = run.environment.find("gate");
  if (gate == run.environment.end() || !gate->is_object()) return nullptr;
  const auto available = gate->find("available"), checks = gate->find("checks");
  if (available == gate->end() || *available != Json(true)) return nullptr;
  return checks == gate->end() || !checks->is_array() || checks->empty() ? nullptr : &*checks;
}

std::map<std::string, Leg> legs_of(Policy policy, const JudgedRun& run, const Suite& suite, const DecisionRules& rules) {
  const auto tally_of = [&](const Part& part, Policy source) {
    LegTally tally;
    for (const Judgement& judgement : run.judgements)
      if (judgement.policy == source && Part{judgement.level, judgement.direction} == part) tally.add(judgement);
    return tally;
  };
  LegTally determinism, coverage;
  std::set<std::string> families, passed;
  std::int64_t standard = 0;
  Filter filter;
  filter.policies.push_back(policy);
  filter.levels.push_back(SuiteLevel::op);
  suite.for_each(filter, [&](const Case& c) {
    ++standard;
    families.insert(c.row->family);
  });
  for (const Judgement& judgement : run.judgements) {
    if (judgement.policy != policy) continue;
    if (judgement.level <= SuiteLevel::model && judgement.repeats) determinism.add_repeat(judgement);
    if (judgement.level != SuiteLevel::op) continue;
    if (judgement.tier <= SuiteTier::standard) coverage.add(judgement);
    if (judgement.state == State::pass || judgement.state == State::approved) passed.insert(judgement.family);
  }
  coverage.counts.planned = standard;

  std::map<std::string, Leg> legs;
  for (const LegRule& rule : rules.legs) {
    Leg& leg = legs[rule.name];
    if (rule.name == "gate")
      leg = gate_leg(run.run);
    else if (const auto part = kParts.find(rule.name); part != kParts.end())
      leg = judged_leg(rule, tally_of(part->second, is_amp(policy) ? rule.under_amp.value_or(policy) : policy));
    else if (rule.name == "determinism")
      leg = judged_leg(rule, determinism);
    else if (rule.name == "coverage")
      leg = coverage_leg(rule, coverage, families, passed);
    else
      leg = judged_leg(rule, LegTally());
  }
  return legs;
}

}  // namespace driftgate
