// Fidelity and fitness of a training run, the leg that they fill, and the demand for a bitwise loss: each beside a twin that refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "error_name.hpp"
#include "judge_fixture.hpp"
#include "judged_runs.hpp"

namespace driftgate {
namespace {

const Suite& training_suite() {
  static const Suite suite([] {
    Row row = spec_row("training", Bound::ensemble);
    row.ops = {"training::mlp"};
    row.directions = {Direction::backward};
    return std::vector<Row>{spec_row("softmax", Bound::general), row};
  }());
  return suite;
}

std::string id_under(const std::string& policy) { return "training.mlp/wide/" + policy + "/backward/canonical"; }

ToleranceRow training_row() {
  ToleranceRow row = row_of("training", 20);
  row.margin = 0.02;
  row.why = "measured";
  return row;
}

OutputRecord trajectory(const std::string& name, double required, std::int64_t step = 7) {
  OutputRecord output = output_of(Bound::ensemble, required, name);
  output.shape = {200};
  if (required > 0) output.climbs = {{step, required}};
  if (name != "loss") output.comparison.zeros_required = 0;
  output.golden->tf32_required = 300;
  output.golden->half_required = 5000;
  return output;
}

struct Trained {
  double loss = 2, norm = 3, change = 0.001;
  std::string policy = "fp32";
};

CaseRecord record_of_run(const Trained& run) {
  OutputRecord loss = trajectory("loss", run.loss), held = output_of(Bound::ensemble, run.change, "held_out");
  loss.metrics["golden_gap"] = 1e-6;
  held.shape = {1};
  held.golden->required = 1e-4;
  held.comparison.zeros_required = 0;
  return record_of(id_under(run.policy), {loss, trajectory("grad_norm", run.norm, 3), held});
}

Judgement judge_run(const CaseRecord& record, const ToleranceRow& row = training_row()) { return judge_case(record, training_suite().find(record.id), row); }
Judgement judge_run(const Trained& run) { return judge_run(record_of_run(run)); }

TEST(TrainingJudge, AFaithfulAndFitRunPasses) {
  const Judgement j = judge_run(Trained{});
  EXPECT_EQ(verdict(j), "pass");
  ASSERT_TRUE(j.training);
  EXPECT_EQ(j.training->fidelity, "fp32-faithful");
  EXPECT_TRUE(j.training->fit());
  EXPECT_EQ(j.training->first_step, -1);
}

TEST(TrainingJudge, BothAreNeeded) {
  const Judgement drifted = judge_run({.norm = 133}), unfit = judge_run({.change = 0.03});
  EXPECT_EQ(verdict(drifted), "fail over_limit");
  EXPECT_TRUE(drifted.training->fit()) << "the held-out loss says nothing of it";
  EXPECT_EQ(verdict(unfit), "fail unfit");
  EXPECT_EQ(unfit.output, "held_out");
  EXPECT_TRUE(unfit.training->faithful());
  EXPECT_FALSE(judge_run({.change = std::nan("")}).training->fit());
  EXPECT_EQ(judge_run({.change = std::nan("")}).state, State::fail);
}

TEST(TrainingJudge, NamesTheFirstStepOutside) {
  const Judgement j = judge_run({.loss = 50, .norm = 60});
  EXPECT_EQ(j.training->first_step, 3);
  EXPECT_EQ(j.training->output, "grad_norm");
  CaseRecord strided = record_of_run(Trained{});
  strided.outputs.push_back(trajectory("grad_norms", 90, 2));
  strided.outputs.back().shape = {6, 25};
  EXPECT_EQ(judge_run(strided).training->first_step, 16) << "of every eighth step";
}

TEST(TrainingJudge, FidelityIsTheClassOfTheCardsOwnRuns) {
  EXPECT_EQ(judge_run({.loss = 200, .norm = 300}).training->fidelity, "tf32-class");
  EXPECT_EQ(judge_run({.loss = 200, .norm = 3000}).training->fidelity, "half-class");
  EXPECT_EQ(judge_run({.loss = 2e4, .norm = 300}).training->fidelity, "none");
  EXPECT_EQ(judge_run({.loss = 200, .norm = 300}).state, State::fail) << "a class is a name, not a pass";
  EXPECT_EQ(judge_run({.loss = 200, .norm = 300, .policy = "bf16"}).training->fidelity, "none");
  EXPECT_EQ(judge_run({.policy = "amp_bf16"}).training->fidelity, "amp_bf16-faithful");
  CaseRecord unknown = record_of_run({.norm = 100});
  for (OutputRecord& output : unknown.outputs) output.golden->tf32_required = output.golden->half_required = kAbsent;
  EXPECT_EQ(judge_run(unknown).training->fidelity, "none");
}

TEST(TrainingJudge, ARunThatDoesNotTrainCannotPass) {
  CaseRecord flat = record_of_run(Trained{});
  flat.outputs[0].comparison.zeros_required = 19;
  EXPECT_EQ(verdict(judge_run(flat)), "untrusted zeros_would_pass");
  flat.outputs[0].comparison.zeros_required = 21;
  EXPECT_EQ(verdict(judge_run(flat)), "pass");
}

TEST(TrainingJudge, WithoutGoldenOrMarginNothingPasses) {
  CaseRecord record = record_of_run(Trained{});
  record.golden_missing = true;
  for (OutputRecord& output : record.outputs) {
    output.golden.reset();
    output.comparison.required.fill(kAbsent);
  }
  EXPECT_EQ(verdict(judge_run(record)), "untrusted golden_missing");
  EXPECT_FALSE(judge_run(record).training);
  EXPECT_NE(judge_run(record_of_run(Trained{}), row_of("training", 20)).state, State::pass);
}

TEST(TrainingJudge, AnEnsembleThatLeavesTheTruthIsNotTrusted) {
  CaseRecord record = record_of_run(Trained{});
  record.outputs[1].golden->required = 21;
  EXPECT_EQ(verdict(judge_run(record)), "untrusted golden_over_limit");
}

// The decision after the training case of fp32 was judged so.
Decision decision_after(const Trained& run, const std::string& demand = "", double gap = 0) {
  const DecisionRules shipped = DecisionRules::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tolerances/decision.json");
  DecisionRules rules = shipped;
  for (LevelRule& level : rules.levels)
    std::erase_if(level.legs, [](const std::string& leg) { return leg.starts_with("models.") || leg == "preprocessing"; });
  JudgedRun judged = green_run(training_suite());
  static const ToleranceRow row = training_row();
  for (Judgement& j : judged.judgements) {
    if (j.level != SuiteLevel::training || j.policy != Policy::fp32) continue;
    CaseRecord record = record_of_run(run);
    record.outputs[0].metrics["golden_gap"] = gap;
    j = judge_case(record, training_suite().find(record.id), row);
  }
  recount(judged);
  std::vector<Decision> decisions = decide(judged, training_suite(), rules);
  if (!demand.empty()) apply_demand(demand, judged, rules, decisions);
  return decisions.at(0);
}

TEST(TrainingLeg, CarriesTrainingAlone) {
  const Decision good = decision_after(Trained{}), bad = decision_after({.norm = 133}), unfit = decision_after({.change = 0.5});
  EXPECT_EQ(good.level, Level::training);
  EXPECT_EQ(bad.level, Level::inference);
  EXPECT_EQ(unfit.level, Level::inference);
  EXPECT_EQ(bad.legs.at("training").state, "fail");
}

TEST(TrainingLeg, SaysFidelityAndFitnessApart) {
  EXPECT_EQ(decision_after(Trained{}).fidelity, "of 1 run: 1 fp32-faithful");
  EXPECT_EQ(decision_after({.norm = 133}).fidelity, "of 1 run: 1 tf32-class; training.mlp/wide/fp32/backward/canonical leaves the golden's runs first, at step 3 in grad_norm");
  EXPECT_EQ(decision_after({.norm = 133}).fitness, "1 of 1 run fit; the held-out loss of training.mlp/wide/fp32/backward/canonical is 0.1 % from the golden's, 2 % is its margin");
  EXPECT_EQ(decision_after({.change = 0.5}).fitness.substr(0, 15), "0 of 1 run fit;");
}

TEST(Demand, ABitwiseLossCapsWhatDoesNotMeetIt) {
  EXPECT_EQ(decision_after(Trained{}, "bitwise_loss", 0).level, Level::training);
  EXPECT_EQ(decision_after(Trained{}, "bitwise_loss", 0).demand, "bitwise_loss is met");
  const Decision capped = decision_after(Trained{}, "bitwise_loss", 1e-7);
  EXPECT_EQ(capped.level, Level::inference);
  EXPECT_EQ(capped.open, Level::inference);
  EXPECT_NE(capped.demand.find("caps it at inference"), std::string::npos) << capped.demand;
  EXPECT_EQ(decision_after(Trained{}, "bitwise_loss", std::nan("")).level, Level::inference);
  EXPECT_EQ(decision_after(Trained{}).demand, "");
  EXPECT_EQ(error_name([] { decision_after(Trained{}, "bitwise"); }), "unknown_demand");
}

}  // namespace
}  // namespace driftgate
