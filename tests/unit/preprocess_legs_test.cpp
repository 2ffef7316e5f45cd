// The leg of preprocessing: judged on its own, whatever the models do.
#include <gtest/gtest.h>

#include <algorithm>

#include "judged_runs.hpp"

namespace driftgate {
namespace {

// An operator, a model and two steps of preprocessing, in fp32.
const Suite& suite() {
  static const Suite made([] {
    std::vector<Row> rows;
    const std::vector<std::pair<std::string, std::string>> ops = {
        {"aten::softmax", "softmax"}, {"model::mlp", "models"}, {"preprocess::resize", "picture_resize"}, {"preprocess::decode", "picture_decode"}};
    for (const auto& [op, family] : ops) {
      Row row;
      row.family = family;
      row.no_twins = {"*"};
      row.ops = {op};
      row.directions = {Direction::forward};
      ArgumentSet set;
      set.name = "plain";
      set.policies = {Policy::fp32};
      row.cases = {set};
      rows.push_back(std::move(row));
    }
    return rows;
  }());
  return made;
}

Decision decision_after(const std::vector<std::string>& families, State state) {
  JudgedRun run = green_run(suite());
  for (Judgement& judgement : run.judgements)
    if (std::find(families.begin(), families.end(), judgement.family) != families.end()) judgement.state = state;
  recount(run);
  return decide(run, suite(), DecisionRules::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tolerances/decision.json")).at(0);
}

TEST(PreprocessLegs, AllGreenEarnsPreprocessing) {
  const Decision decision = decision_after({}, State::pass);
  EXPECT_EQ(decision.legs.at("preprocessing").state, "pass");
  EXPECT_EQ(decision.legs.at("preprocessing").counts.planned, 2);
  EXPECT_EQ(decision.legs.at("operators.forward").counts.planned, 1) << "preprocessing is no operator";
}

TEST(PreprocessLegs, AmpPreparesItsDataInFp32) {
  const auto under = [](const char* policy, State state) {
    JudgedRun run = green_run(suite());
    for (Judgement& judgement : run.judgements)
      if (judgement.family == "picture_resize") judgement.state = state;
    recount(run);
    const std::vector<Decision> all = decide(run, suite(), DecisionRules::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tolerances/decision.json"));
    return all.at(static_cast<std::size_t>(parse_policy(policy, "here"))).legs.at("preprocessing").state;
  };
  EXPECT_EQ(under("amp_bf16", State::pass), "pass");
  EXPECT_EQ(under("amp_bf16", State::fail), "fail");
  EXPECT_EQ(under("bf16", State::pass), "missing") << "a policy of its own";
}

TEST(PreprocessLegs, AFaultInModelsAloneLeavesPreprocessing) {
  const Decision decision = decision_after({"models"}, State::fail);
  EXPECT_EQ(decision.level, Level::preprocessing);
  EXPECT_EQ(decision.open, Level::preprocessing);
}

TEST(PreprocessLegs, AFaultInResizeRefusesPreprocessing) {
  const Decision decision = decision_after({"picture_resize", "models"}, State::fail);
  EXPECT_EQ(decision.legs.at("preprocessing").state, "fail");
  EXPECT_EQ(decision.level, Level::unusable);
}

TEST(PreprocessLegs, ASkippedStepProvesNothing) {
  const Decision decision = decision_after({"picture_resize", "picture_decode"}, State::skip);
  EXPECT_EQ(decision.legs.at("preprocessing").state, "missing");
  EXPECT_NE(decision.level, Level::preprocessing);
}

}  // namespace
}  // namespace driftgate
