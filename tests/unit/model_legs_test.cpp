// The legs of models: forward carries inference, both carry training.
#include <gtest/gtest.h>

#include <algorithm>

#include "judged_runs.hpp"

namespace driftgate {
namespace {

// An operator and a model, both directions, in fp32 and amp_fp16.
const Suite& suite() {
  static const Suite made([] {
    std::vector<Row> rows;
    for (const char* op : {"aten::softmax", "model::mlp"}) {
      Row row;
      row.family = op[0] == 'a' ? "softmax" : "models";
      row.no_twins = {"*"};
      row.ops = {op};
      row.directions = {Direction::forward, Direction::backward};
      ArgumentSet set;
      set.name = "train";
      set.policies = {Policy::fp32, Policy::amp_fp16};
      row.cases = {set};
      rows.push_back(std::move(row));
    }
    return rows;
  }());
  return made;
}

// The shipped rules without the legs that other levels fill.
DecisionRules rules() {
  DecisionRules made = DecisionRules::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tolerances/decision.json");
  for (LevelRule& level : made.levels)
    level.legs.erase(std::remove_if(level.legs.begin(), level.legs.end(), [](const std::string& leg) { return leg.starts_with("training") || leg == "preprocessing"; }),
                     level.legs.end());
  return made;
}

Decision decision_after(Direction direction, State state) {
  JudgedRun run = green_run(suite());
  for (Judgement& judgement : run.judgements)
    if (judgement.level == SuiteLevel::model && judgement.direction == direction) judgement.state = state;
  recount(run);
  return decide(run, suite(), rules()).at(0);
}

TEST(ModelLegs, AllGreenEarnsTraining) {
  const Decision decision = decision_after(Direction::forward, State::pass);
  EXPECT_EQ(decision.level, Level::training);
  EXPECT_EQ(decision.legs.at("models.forward").counts.planned, 1);
  EXPECT_EQ(decision.legs.at("operators.forward").counts.planned, 1) << "a model is no operator";
}

TEST(ModelLegs, AModelThatFailsOnlyBackwardLowersTrainingToInference) {
  const Decision decision = decision_after(Direction::backward, State::fail);
  EXPECT_EQ(decision.level, Level::inference);
  EXPECT_EQ(decision.open, Level::inference);
  EXPECT_EQ(decision.legs.at("models.backward").state, "fail");
  EXPECT_EQ(decision.legs.at("operators.backward").state, "pass");
}

TEST(ModelLegs, AModelThatFailsForwardLeavesPreprocessing) {
  EXPECT_EQ(decision_after(Direction::forward, State::fail).level, Level::preprocessing);
}

TEST(ModelLegs, AModelThatWasSkippedProvesNothing) {
  const Decision decision = decision_after(Direction::backward, State::skip);
  EXPECT_EQ(decision.level, Level::inference);
  EXPECT_EQ(decision.open, Level::training);
}

TEST(ModelLegs, CoverageIsThatOfTheOperators) {
  const Decision decision = decision_after(Direction::forward, State::fail);
  EXPECT_EQ(decision.legs.at("coverage").state, "pass");
  EXPECT_EQ(decision.legs.at("coverage").counts.planned, 2);
}

}  // namespace
}  // namespace driftgate
