#include "judge/decision.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "judged_runs.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kSource = DRIFTGATE_SOURCE_DIR;

DecisionRules shipped() { return DecisionRules::load(kSource / "tolerances/decision.json"); }

// The shipped rules without the legs whose cases are of a later release, so that every level can be earned.
DecisionRules earnable() {
  DecisionRules rules = shipped();
  for (LevelRule& level : rules.levels) {
    const auto later = [](const std::string& leg) { return leg.starts_with("models.") || leg == "training" || leg == "preprocessing"; };
    level.legs.erase(std::remove_if(level.legs.begin(), level.legs.end(), later), level.legs.end());
  }
  return rules;
}

Decision decision_of(const JudgedRun& run, const DecisionRules& rules, Policy policy = Policy::fp32) {
  return decide(run, report_suite(), rules).at(static_cast<std::size_t>(policy));
}

std::string state_of(const Decision& decision, const std::string& leg) { return decision.legs.at(leg).state; }

using Names = std::vector<std::string>;

TEST(Decision, AllGreenIsInconclusiveWhileLaterLegsAreMissing) {
  const Decision decision = decision_of(green_run(report_suite()), shipped());
  EXPECT_EQ(decision.level, Level::inconclusive);
  EXPECT_EQ(decision.open, Level::training);
  EXPECT_EQ(decision.missing, (Names{"models.forward", "models.backward", "training", "preprocessing"}));
  EXPECT_EQ(decision.why, "nothing refuses training; not proven: models.forward, models.backward, training");
  EXPECT_EQ(decision.raise, Names{"models.forward, models.backward, training, preprocessing: no case was planned"});
  for (const char* leg : {"gate", "operators.forward", "operators.backward", "determinism", "coverage"})
    EXPECT_EQ(state_of(decision, leg), "pass") << leg;
}

TEST(Decision, AllGreenEarnsTrainingWhenEveryLegIsThere) {
  const Decision decision = decision_of(green_run(report_suite()), earnable());
  EXPECT_EQ(decision.level, Level::training);
  EXPECT_EQ(decision.open, Level::training);
  EXPECT_TRUE(decision.missing.empty());
  EXPECT_EQ(decision.why, "every leg of training passes");
}

TEST(Decision, BackwardFailRefusesTrainingOnly) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 1, Policy::fp32, Direction::backward, State::fail, "over_limit");
  const Decision today = decision_of(run, shipped());
  EXPECT_EQ(today.level, Level::inconclusive);
  EXPECT_EQ(today.open, Level::inference);
  EXPECT_EQ(today.why, "nothing refuses inference; not proven: models.forward; operators.backward refuses training: 1 of 20 fail (softmax 1)");
  EXPECT_EQ(decision_of(run, earnable()).level, Level::inference);
  EXPECT_EQ(decision_of(run, earnable()).raise, Names{"operators.backward: repair or approve, 1 of 20 fail (softmax 1)"});
  EXPECT_EQ(decision_of(run, earnable(), Policy::fp16).level, Level::training) << "a policy is judged by its own cases";
}

TEST(Decision, ForwardFailRefusesTrainingAndInference) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 1, Policy::fp32, Direction::forward, State::fail, "crashed");
  EXPECT_EQ(decision_of(run, shipped()).open, Level::preprocessing);
  EXPECT_EQ(decision_of(run, earnable()).level, Level::preprocessing);
}

TEST(Decision, NondeterminismRefusesTrainingAndInference) {
  JudgedRun run = green_run(report_suite());
  run.judgements[0].repeat = State::fail;
  const Decision decision = decision_of(run, earnable(), run.judgements[0].policy);
  EXPECT_EQ(state_of(decision, "determinism"), "fail");
  EXPECT_EQ(state_of(decision, "operators.forward"), "pass");
  EXPECT_EQ(decision.level, Level::preprocessing);
}

TEST(Decision, AnUntrustedCaseProvesNoDeterminismButMayRefuteIt) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 20, Policy::fp32, Direction::forward, State::untrusted, "golden_missing");
  EXPECT_EQ(state_of(decision_of(run, earnable()), "determinism"), "unproven");
  for (Judgement& judgement : run.judgements) judgement.repeat = judgement.state == State::untrusted ? State::fail : State::pass;
  EXPECT_EQ(state_of(decision_of(run, earnable()), "determinism"), "fail");
}

TEST(Decision, NothingRepeatedIsNotDeterminism) {
  JudgedRun run = green_run(report_suite());
  for (Judgement& judgement : run.judgements) judgement.repeat = State::skip;
  EXPECT_EQ(state_of(decision_of(run, earnable()), "determinism"), "missing");
}

TEST(Decision, FailingGateIsUnusable) {
  JudgedRun run = green_run(report_suite());
  run.run.environment["gate"]["checks"][0]["ok"] = false;
  for (const Decision& decision : decide(run, report_suite(), earnable())) {
    EXPECT_EQ(decision.level, Level::unusable);
    EXPECT_EQ(decision.open, Level::unusable);
    EXPECT_NE(decision.why.find("gate refuses training, inference, preprocessing: macos: 26.1"), std::string::npos) << decision.why;
  }
  EXPECT_EQ(exit_code(run, decide(run, report_suite(), earnable()), Level::preprocessing), 1);
}

TEST(Decision, AVirtualMachineEarnsNothing) {
  JudgedRun run = green_run(report_suite());
  run.run.environment["host"]["virtual"] = false;
  EXPECT_EQ(decision_of(run, earnable()).level, Level::training);
  run.run.environment["host"]["virtual"] = true;
  const Decision decision = decision_of(run, earnable());
  EXPECT_EQ(state_of(decision, "gate"), "unproven");
  EXPECT_EQ(decision.level, Level::inconclusive);
}

TEST(Decision, AGateThatCouldNotLookProvesNothing) {
  for (const char* gate : {"null", "{}", R"({"available": false, "checks": [{"name": "device", "ok": false, "detail": "none"}]})",
                           R"({"available": true, "checks": []})", R"({"available": 1, "checks": [{"ok": true}]})"}) {
    JudgedRun run = green_run(report_suite());
    run.run.environment["gate"] = Json::parse(gate);
    const std::vector<Decision> decisions = decide(run, report_suite(), earnable());
    EXPECT_EQ(state_of(decisions[0], "gate"), "missing") << gate;
    EXPECT_EQ(decisions[0].level, Level::inconclusive) << gate;
    EXPECT_EQ(exit_code(run, decisions, std::nullopt), 3) << gate;
    EXPECT_EQ(exit_code(run, {decisions[0]}, Level::training), 3) << gate;
  }
}

TEST(Decision, PolicyWithoutCasesIsInconclusive) {
  const Decision decision = decision_of(green_run(report_suite()), shipped(), Policy::amp_fp16);
  EXPECT_EQ(decision.level, Level::inconclusive);
  EXPECT_EQ(decision.open, Level::training);
  for (const char* leg : {"operators.forward", "operators.backward", "determinism", "coverage", "models.forward", "models.backward"})
    EXPECT_EQ(state_of(decision, leg), "missing") << leg;
  EXPECT_EQ(decision.why, "no case of this policy was planned");
  EXPECT_EQ(decision.raise, Names{"run cases of this policy"});
}

TEST(Decision, TooManyUntrustedCasesAreUnproven) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 2, Policy::fp32, Direction::forward, State::untrusted, "golden_missing");
  EXPECT_EQ(decision_of(run, earnable()).level, Level::training) << "18 of 20 is 90 %";
  set_first(run, 3, Policy::fp32, Direction::forward, State::untrusted, "golden_missing");
  const Decision decision = decision_of(run, earnable());
  EXPECT_EQ(decision.level, Level::preprocessing);
  EXPECT_EQ(decision.open, Level::training);
  EXPECT_EQ(decision.legs.at("operators.forward").why, "17 of 20 pass (golden_missing 3), at least 90 % needed");
}

TEST(Decision, TooManySkipsAreUnproven) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 1, Policy::fp32, Direction::backward, State::skip, "unsupported");
  EXPECT_EQ(decision_of(run, earnable()).level, Level::training) << "19 of 20 is 95 %";
  set_first(run, 2, Policy::fp32, Direction::backward, State::skip, "unsupported");
  EXPECT_EQ(decision_of(run, earnable()).level, Level::inference);
  set_first(run, 20, Policy::fp32, Direction::backward, State::skip, "unsupported");
  EXPECT_EQ(state_of(decision_of(run, earnable()), "operators.backward"), "missing");
}

TEST(Decision, OneErrorIsUnproven) {
  JudgedRun run = green_run(report_suite());
  set_first(run, 1, Policy::fp32, Direction::forward, State::error, "not_executed");
  const Decision decision = decision_of(run, earnable());
  EXPECT_EQ(state_of(decision, "operators.forward"), "unproven");
  EXPECT_EQ(decision.legs.at("operators.forward").counts.executed, 19);
  EXPECT_EQ(state_of(decision, "determinism"), "unproven");
  EXPECT_EQ(decision.level, Level::preprocessing);
}

TEST(Decision, BluntRowsCannotEarnTraining) {
  JudgedRun run = green_run(report_suite());
  int n = 0;
  for (Judgement& judgement : run.judgements)
    judgement.blunt = judgement.policy == Policy::fp32 && judgement.direction == Direction::backward && ++n > 10;
  EXPECT_EQ(decision_of(run, earnable()).level, Level::training) << "10 of 20 is 50 %";
  n = 0;
  for (Judgement& judgement : run.judgements)
    judgement.blunt = judgement.policy == Policy::fp32 && judgement.direction == Direction::backward && ++n > 9;
  const Decision decision = decision_of(run, earnable());
  EXPECT_EQ(decision.level, Level::inference);
  EXPECT_EQ(decision.open, Level::training);
  EXPECT_EQ(decision.missing, Names{"operators.backward"});
  EXPECT_EQ(decision.raise, Names{"operators.backward: sharp rows carry 9 of 20 passes, training needs 50 %"});
}

TEST(Decision, AFilteredRunCoversTooLittle) {
  JudgedRun run = green_run(report_suite());
  const auto is_sort = [](const Judgement& judgement) { return judgement.family == "sort"; };
  run.judgements.erase(std::remove_if(run.judgements.begin(), run.judgements.end(), is_sort), run.judgements.end());
  recount(run);
  const Decision decision = decision_of(run, earnable());
  EXPECT_EQ(state_of(decision, "operators.forward"), "pass");
  EXPECT_EQ(decision.legs.at("coverage").why, "20 of the suite's 40 cases executed, at least 90 % needed");
  EXPECT_EQ(decision.level, Level::preprocessing);
}

TEST(Decision, AFamilyWithoutAPassIsNotCovered) {
  JudgedRun run = green_run(report_suite());
  for (Judgement& judgement : run.judgements)
    if (judgement.family == "sort") judgement.state = State::untrusted;
  const Decision decision = decision_of(run, earnable());
  EXPECT_EQ(decision.legs.at("coverage").why, "1 of 2 families have a pass, at least 95 % needed; without: sort");
}

TEST(Decision, TheWeakestPassIsTheOneNearestItsLimit) {
  JudgedRun run = green_run(report_suite());
  const auto last = std::find_if(run.judgements.rbegin(), run.judgements.rend(), [](const auto& j) { return j.policy == Policy::fp32; });
  last->required = 3;
  const Decision decision = decision_of(run, shipped());
  EXPECT_EQ(decision.weakest, last->id);
  EXPECT_EQ(decision.weakest_share, 0.75);
  EXPECT_EQ(decision.weakest_ratio, 1.4);
  last->required = kAbsent;                             // a case that must raise has no number
  EXPECT_NE(decision_of(run, shipped(), Policy::fp32).weakest, last->id);
  EXPECT_EQ(decision_of(run, shipped(), Policy::bf16).weakest, "");
}

TEST(Conclude, AFailingPreprocessingLegIsUnusable) {
  std::map<std::string, Leg> legs;
  for (const LegRule& rule : shipped().legs) legs[rule.name] = Leg{"pass", "", {}, 0};
  for (Leg* leg : {&legs["operators.forward"], &legs["operators.backward"]}) leg->counts.pass = leg->sharp = 10;
  EXPECT_EQ(conclude(Policy::fp32, legs, shipped()).level, Level::training);
  legs["preprocessing"].state = "fail";
  EXPECT_EQ(conclude(Policy::fp32, legs, shipped()).level, Level::unusable);
  legs["preprocessing"].state = "pass";
  for (const LegRule& rule : shipped().legs) {
    std::map<std::string, Leg> without = legs;
    without.erase(rule.name);
    const Decision decision = conclude(Policy::fp32, without, shipped());
    EXPECT_EQ(decision.legs.at(rule.name).state, "missing");
    EXPECT_EQ(decision.level == Level::training, rule.name == "preprocessing") << rule.name << " is missing";
  }
}

TEST(ExitCode, SpeaksOfSoundnessAndFailures) {
  const auto code = [](const JudgedRun& run) { return exit_code(run, decide(run, report_suite(), shipped()), std::nullopt); };
  JudgedRun run = green_run(report_suite());
  EXPECT_EQ(code(run), 0);
  run.judgements[0].repeat = State::fail;
  EXPECT_EQ(code(run), 1);
  run = green_run(report_suite());
  set_first(run, 1, Policy::fp32, Direction::forward, State::error, "no_reference");
  EXPECT_EQ(code(run), 3);
  set_first(run, 1, Policy::fp16, Direction::forward, State::fail, "over_limit");
  EXPECT_EQ(code(run), 1) << "drift beside an error is drift";
  EXPECT_EQ(exit_code(run, {}, std::nullopt), 1);
  run = green_run(report_suite());
  ++run.counts.planned;
  EXPECT_EQ(code(run), 3);
  for (Judgement& judgement : run.judgements) judgement.state = State::skip;
  recount(run);
  EXPECT_EQ(code(run), 3);
  EXPECT_EQ(code(JudgedRun{}), 3);
}

TEST(ExitCode, SpeaksOfTheRequiredLevel) {
  const auto code = [](const JudgedRun& run, const DecisionRules& rules, Level level) {
    return exit_code(run, {decision_of(run, rules), decision_of(run, rules, Policy::fp16)}, level);
  };
  JudgedRun run = green_run(report_suite());
  EXPECT_EQ(code(run, earnable(), Level::training), 0);
  EXPECT_EQ(code(run, shipped(), Level::training), 3);
  EXPECT_EQ(exit_code(run, {}, Level::inference), 3) << "no policy selected";
  set_first(run, 1, Policy::fp16, Direction::backward, State::fail, "over_limit");
  EXPECT_EQ(code(run, shipped(), Level::training), 1) << "one policy is refused";
  EXPECT_EQ(code(run, shipped(), Level::inference), 3);
  EXPECT_EQ(code(run, earnable(), Level::inference), 0);
  set_first(run, 1, Policy::fp32, Direction::forward, State::error, "no_reference");
  EXPECT_EQ(code(run, earnable(), Level::preprocessing), 3) << "an unsound run earns nothing";
}

}  // namespace
}  // namespace driftgate
