// From a fault of the device to the level that it costs: cases of every leg run, are judged against the shipped goldens and table, and decided
// by the shipped rules, without the two legs that ask for the whole suite (coverage, determinism).
#include <gtest/gtest.h>

#include <algorithm>

#include "judge/decision.hpp"
#include "run/runner.hpp"
#include "simulated.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kHome = DRIFTGATE_SOURCE_DIR;

const Suite& suite() {
  static const Suite made = Suite::load(kHome / "tests/cases");
  return made;
}

DecisionRules rules() {
  DecisionRules made = DecisionRules::load(kHome / "tolerances/decision.json");
  for (LevelRule& level : made.levels) std::erase_if(level.legs, [](const std::string& leg) { return leg == "coverage" || leg == "determinism"; });
  return made;
}

Decision decision_of_device() {
  sim();
  static const GoldenSet golden = GoldenSet::open(find_golden_set(kHome / "golden").value());
  Evidence evidence;
  evidence.run.device = "sim";
  evidence.run.environment = Json::parse(R"({"gate": {"available": true, "checks": [{"name": "sim", "ok": true, "detail": ""}]}})");
  Runner runner(Device::sim, &golden);
  for (const char* key : {"mm/square/fp32/forward", "mm/square/fp32/backward", "gelu/erf/fp32/forward", "gelu/erf/fp32/backward", "model.mlp/train/fp32/forward",
                          "model.mlp/train/fp32/backward", "training.mlp/adamw/fp32/backward", "preprocess.resize/bilinear_shrink/fp32/forward"}) {
    evidence.run.plan.push_back(std::string(key) + "/canonical");
    evidence.cases.push_back(runner.run(suite().find(evidence.run.plan.back())));
  }
  return decide(judge(evidence, suite(), ToleranceTable::load(kHome / "tolerances")), suite(), rules()).at(static_cast<std::size_t>(Policy::fp32));
}

std::string states(const Decision& decision) {
  std::string text;
  for (const auto& [name, leg] : decision.legs) text += name + " " + leg.state + ": " + leg.why + "\n";
  return text;
}

TEST(SimulatedDecision, ASoundDeviceTrains) {
  const Decision decision = decision_of_device();
  EXPECT_EQ(decision.level, Level::training) << states(decision);
}

TEST(SimulatedDecision, AFaultInBackwardAloneLeavesInference) {
  const PlantedFault fault("aten::gelu_backward", R"({"kind": "scale", "by": 1.05})");
  const Decision decision = decision_of_device();
  EXPECT_GT(fault.activations(), 0);
  EXPECT_EQ(decision.level, Level::inference) << states(decision);
  EXPECT_EQ(decision.legs.at("training").state, "fail");
  EXPECT_EQ(decision.legs.at("models.backward").state, "fail");
  EXPECT_EQ(decision.legs.at("models.forward").state, "pass");
}

TEST(SimulatedDecision, AFaultInFloatModelsAloneLeavesPreprocessing) {
  const PlantedFault fault("aten::linear|aten::mm", R"({"kind": "scale", "by": 1.01})");
  const Decision decision = decision_of_device();
  EXPECT_GT(fault.activations(), 0);
  EXPECT_EQ(decision.level, Level::preprocessing) << states(decision);
  EXPECT_EQ(decision.legs.at("models.forward").state, "fail");
}

TEST(SimulatedDecision, AFaultInPreprocessingTooLeavesNothing) {
  const PlantedFault fault("aten::linear|aten::mm|aten::_upsample_bilinear2d_aa|aten::upsample_bilinear2d", R"({"kind": "scale", "by": 1.05})");
  const Decision decision = decision_of_device();
  EXPECT_EQ(decision.legs.at("preprocessing").state, "fail") << states(decision);
  EXPECT_EQ(decision.level, Level::unusable);
}

}  // namespace
}  // namespace driftgate
