#include "judge/decision.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/legs.hpp"

namespace driftgate {
namespace {

template <typename Strings>
std::string joined(const Strings& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

void find_weakest(Decision& decision, const JudgedRun& run) {
  for (const Judgement& judgement : run.judgements) {
    if (judgement.policy != decision.policy || judgement.state != State::pass) continue;
    if (std::isnan(judgement.required)) continue;       // it must raise: there is no number
    const double used = limit_share(judgement.required, judgement.limit);
    if (!(used > decision.weakest_share) && !decision.weakest.empty()) continue;
    decision.weakest = judgement.id;
    decision.weakest_share = used;
    decision.weakest_ratio = judgement.ratio;
  }
}

// How one level stands.
struct Standing {
  Level level;
  std::vector<std::string> failing, unproven;
  std::map<std::string, std::string> blunt;  // legs that pass, but not sharply enough for this level
};

Standing stand(const LevelRule& rule, std::map<std::string, Leg>& legs) {
  Standing standing{rule.level, {}, {}, {}};
  for (const std::string& name : rule.legs) {
    Leg& leg = legs[name];
    if (leg.state.empty()) leg.state = "missing", leg.why = "no case was planned";
    if (leg.state == "fail")
      standing.failing.push_back(name);
    else if (leg.state != "pass")
      standing.unproven.push_back(name);
    else if (name.rfind("operators.", 0) == 0 && !(share(leg.sharp, leg.counts.pass) >= rule.least_sharp)) {
      standing.unproven.push_back(name);
      standing.blunt[name] = fmt::format("sharp rows carry {} of {} passes, {} needs {:.3g} %", leg.sharp, leg.counts.pass,
                                         driftgate::name(rule.level), 100 * rule.least_sharp);
    }
  }
  return standing;
}

void append(std::vector<std::string>& list, const std::string& word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
}

// "operators.backward refuses training: 3 of 120 fail (softmax 3)", one for each failing leg.
std::vector<std::string> refusals(const std::vector<Standing>& standings, const std::map<std::string, Leg>& legs) {
  std::vector<std::string> order, sentences;
  std::map<std::string, std::vector<std::string_view>> refused;
  for (const Standing& standing : standings)
    for (const std::string& leg : standing.failing) {
      append(order, leg);
      refused[leg].push_back(name(standing.level));
    }
  for (const std::string& leg : order)
    sentences.push_back(fmt::format("{} refuses {}: {}", leg, joined(refused[leg]), legs.at(leg).why));
  return sentences;
}

// "models, training: no case was planned": what stands between the decision and the levels above it, legs of one reason together.
std::vector<std::string> raises(const Decision& decision, const std::vector<Standing>& standings) {
  std::vector<std::string> reasons;
  std::map<std::string, std::vector<std::string>> legs;
  const auto add = [&](const std::string& leg, const std::string& reason) {
    append(reasons, reason);
    append(legs[reason], leg);
  };
  for (const Standing& standing : standings) {
    if (standing.level <= decision.level) continue;
    for (const std::string& leg : standing.failing) add(leg, "repair or approve, " + decision.legs.at(leg).why);
    for (const std::string& leg : standing.unproven) {
      const auto blunt = standing.blunt.find(leg);
      add(leg, blunt != standing.blunt.end() ? blunt->second : decision.legs.at(leg).why);
    }
  }
  std::vector<std::string> sentences;
  for (const std::string& reason : reasons) sentences.push_back(joined(legs[reason]) + ": " + reason);
  return sentences;
}

std::string explain(const Decision& decision, const std::vector<Standing>& standings) {
  std::vector<std::string> sentences;
  for (const Standing& standing : standings) {
    if (standing.level == decision.level) sentences.push_back("every leg of " + std::string(name(standing.level)) + " passes");
    if (standing.level != decision.open || decision.open == decision.level) continue;
    std::vector<std::string> names;
    for (const std::string& leg : standing.unproven) names.push_back(standing.blunt.count(leg) ? leg + " (too blunt)" : leg);
    sentences.push_back(fmt::format("nothing refuses {}; not proven: {}", name(standing.level), joined(names)));
  }
  for (std::string& refusal : refusals(standings, decision.legs)) sentences.push_back(std::move(refusal));
  return fmt::format("{}", fmt::join(sentences, "; "));
}

std::string plural(std::int64_t n, const char* word) { return fmt::format("{} {}{}", n, word, n == 1 ? "" : "s"); }

// Where the runs go, and how well they end: a sentence each.
void describe_training(Decision& decision, const JudgedRun& run) {
  std::map<std::string, std::int64_t> classes;
  const Judgement *first = nullptr, *worst = nullptr;
  std::int64_t runs = 0, fit = 0;
  for (const Judgement& judgement : run.judgements) {
    if (judgement.policy != decision.policy || !judgement.training) continue;
    const TrainingVerdict& verdict = *judgement.training;
    ++runs;
    ++classes[verdict.fidelity];
    fit += verdict.fit() ? 1 : 0;
    if (!verdict.faithful() && (first == nullptr || verdict.first_step < first->training->first_step)) first = &judgement;
    if (worst == nullptr || limit_share(verdict.change, verdict.margin) > limit_share(worst->training->change, worst->training->margin)) worst = &judgement;
  }
  if (runs == 0) return;
  std::vector<std::string> counts;
  for (const auto& [fidelity, count] : classes) counts.push_back(fmt::format("{} {}", count, fidelity));
  decision.fidelity = fmt::format("of {}: {}", plural(runs, "run"), joined(counts));
  if (first != nullptr) decision.fidelity += fmt::format("; {} leaves the golden's runs first, at step {} in {}", first->id, first->training->first_step, first->training->output);
  decision.fitness = fmt::format("{} of {} fit; the held-out loss of {} is {:.2g} % from the golden's, {:.2g} % is its margin", fit, plural(runs, "run"), worst->id,
                                 100 * worst->training->change, 100 * worst->training->margin);
}

}  // namespace

Decision conclude(Policy policy, std::map<std::string, Leg> legs, const DecisionRules& rules) {
  Decision decision;
  decision.policy = policy;
  std::vector<Standing> standings;
  for (const LevelRule& rule : rules.levels) standings.push_back(stand(rule, legs));
  decision.legs = std::move(legs);

  const bool unusable = !standings.empty() && !standings.back().failing.empty();
  if (unusable) decision.level = decision.open = Level::unusable;
  for (const Standing& standing : standings) {
    if (unusable || !standing.failing.empty()) continue;
    decision.open = std::max(decision.open, standing.level);
    if (standing.unproven.empty()) decision.level = std::max(decision.level, standing.level);
  }
  for (const Standing& standing : standings) {
    if (standing.level <= decision.level) continue;
    for (const std::string& leg : standing.unproven) append(decision.missing, leg);
  }
  decision.raise = raises(decision, standings);
  decision.why = explain(decision, standings);
  return decision;
}

std::vector<Decision> decide(const JudgedRun& run, const Suite& suite, const DecisionRules& rules) {
  std::vector<Decision> decisions;
  for (int i = 0; i < kPolicies; ++i) {
    const auto policy = static_cast<Policy>(i);
    Decision decision = conclude(policy, legs_of(policy, run, suite, rules), rules);
    if (std::string sentence = cpu_exceptions(decision, run, suite, rules); !sentence.empty()) decision.raise.push_back(std::move(sentence));
    find_weakest(decision, run);
    describe_training(decision, run);
    const bool planned =
        std::any_of(run.judgements.begin(), run.judgements.end(), [&](const Judgement& j) { return j.policy == policy; });
    if (!planned) {
      decision.why = "no case of this policy was planned" + (decision.level == Level::unusable ? "; " + decision.why : "");
      decision.raise = {"run cases of this policy"};
    }
    decisions.push_back(std::move(decision));
  }
  return decisions;
}

bool is_sound(const JudgedRun& run) {
  const Counts& n = run.counts;
  return n.executed > 0 && n.planned == n.executed + n.skip && n.error == 0 && gate_checks(run.run) != nullptr;
}

int exit_code(const JudgedRun& run, const std::vector<Decision>& decisions, std::optional<Level> require) {
  constexpr int kGood = 0, kFailed = 1, kUnknown = 3;
  if (run.counts.executed == 0 || gate_checks(run.run) == nullptr) return kUnknown;
  const auto any = [&](auto&& holds) { return std::any_of(decisions.begin(), decisions.end(), holds); };
  if (require) {
    if (any([&](const Decision& d) { return d.level < *require && d.open < *require; })) return kFailed;
    const bool earned = !decisions.empty() && !any([&](const Decision& d) { return d.level < *require; });
    return earned && is_sound(run) ? kGood : kUnknown;
  }
  const auto has_failing_leg = [](const Decision& d) {
    return std::any_of(d.legs.begin(), d.legs.end(), [](const auto& leg) { return leg.second.state == "fail"; });
  };
  if (run.counts.fail > 0 || any(has_failing_leg)) return kFailed;
  return is_sound(run) ? kGood : kUnknown;
}

}  // namespace driftgate
