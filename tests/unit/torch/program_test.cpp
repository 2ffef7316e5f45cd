// Programs: their inputs, their reference, and the bound ratio, each beside its twin that must say no.
#include <gtest/gtest.h>

#include <cmath>

#include "../error_name.hpp"
#include "inline_suite.hpp"
#include "run/program_case.hpp"
#include "run/ratio.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

constexpr auto kRatio = static_cast<std::size_t>(Bound::ratio);

Suite mlp_suite(const std::string& settings = R"("batch": 8, "in": 16, "hidden": 24, "classes": 5)") {
  return inline_suite(R"({"family": "models", "ops": ["model::mlp"], "bound": "ratio", "policies": ["fp32", "bf16", "amp_bf16"],
                          "directions": ["forward", "backward"], "cases": {"train": {)" + settings + "}}}");
}

CaseRecord run_on_cpu(const std::string& id) {
  const Suite suite = mlp_suite();
  return Runner(Device::cpu, nullptr).run(suite.find(id));
}

TEST(Program, RunsForwardAndBackwardOnTheCpu) {
  const CaseRecord forward = run_on_cpu("model.mlp/train/fp32/forward/canonical");
  ASSERT_EQ(forward.stage, "done") << forward.message;
  ASSERT_EQ(forward.outputs.size(), 2U);
  EXPECT_EQ(forward.outputs[1].name, "loss");
  EXPECT_LT(forward.outputs[0].comparison.required[kRatio], 8);
  EXPECT_EQ(forward.outputs[0].metrics.at("top1"), 1);
  EXPECT_GT(forward.outputs[0].comparison.zeros_required, 1e4) << "all zeros must not pass";
  EXPECT_TRUE(forward.golden_missing);
  const CaseRecord backward = run_on_cpu("model.mlp/train/fp32/backward/canonical");
  ASSERT_EQ(backward.outputs.size(), 12U);
  EXPECT_EQ(backward.outputs[0].name, "grad.first.weight");
  EXPECT_EQ(backward.outputs[11].name, "step.head.bias");
  for (const OutputRecord& output : backward.outputs) EXPECT_LT(output.comparison.required[kRatio], 8) << output.name;
}

TEST(Program, ThePolicyObservedIsRecorded) {
  const CaseRecord full = run_on_cpu("model.mlp/train/fp32/forward/canonical"), half = run_on_cpu("model.mlp/train/bf16/forward/canonical"),
                   amp = run_on_cpu("model.mlp/train/amp_bf16/forward/canonical");
  EXPECT_EQ(full.observed.count("bf16"), 0U);
  EXPECT_GT(full.observed.at("f32"), 3);
  EXPECT_EQ(full.observed_bits, 24);
  EXPECT_EQ(half.observed.count("f32"), 0U);
  EXPECT_EQ(half.observed_bits, 8);
  EXPECT_GT(amp.observed.at("bf16"), 2);
  EXPECT_EQ(amp.observed_bits, 8);
}

TEST(Program, ASettingThatNobodyReadsIsAnError) {
  const Suite misspelt = mlp_suite(R"("batch": 8, "in": 16, "hidden": 24, "classes": 5, "hiden": 3)"), short_of_one = mlp_suite(R"("batch": 8)"),
              stepless = mlp_suite(R"("batch": 8, "in": 16, "hidden": 24, "classes": 5, "step": "lion")");
  const auto prepared = [](const Suite& suite) { return error_name([&] { prepare_program(suite.find("model.mlp/train/fp32/forward/canonical")); }); };
  EXPECT_EQ(prepared(mlp_suite()), "");
  EXPECT_EQ(prepared(misspelt), "unknown_key");
  EXPECT_EQ(prepared(short_of_one), "missing_key");
  EXPECT_EQ(prepared(stepless), "bad_value");
  EXPECT_EQ(error_name([] { find_program("model::nothing", "test"); }), "unknown_program");
}

// A reference of one output whose floor is 1e-6, and what a golden says of it.
ReferenceOutput truth_of(std::vector<double> values) {
  ReferenceOutput truth;
  truth.name = "logits";
  truth.value = from_doubles(DType::f64, {static_cast<std::int64_t>(values.size())}, values);
  truth.values = std::move(values);
  truth.bound = Bound::ratio;
  truth.floor = 1e-6;
  return truth;
}

TEST(Ratio, IsTheErrorInUnitsOfTheFloorOrOfAWorseGolden) {
  const ReferenceOutput truth = truth_of({1, -1, 0.5, 0.25});
  const Buffer off = from_doubles(DType::f64, {4}, {1 + 4e-6, -1 - 4e-6, 0.5 + 4e-6, 0.25 + 4e-6});
  EXPECT_NEAR(compare_ratio(off, truth, 0).required[kRatio], 4, 1e-6);
  EXPECT_NEAR(compare_ratio(off, truth, 0.001).required[kRatio], 4, 1e-6) << "a lucky golden changes nothing";
  EXPECT_NEAR(compare_ratio(off, truth, 2).required[kRatio], 2, 1e-6);
  EXPECT_EQ(compare_ratio(truth.value, truth, 0).required[kRatio], 0);
}

TEST(Ratio, NotANumberIsInfinitelyFar) {
  const ReferenceOutput truth = truth_of({1, -1, 0.5, 0.25});
  const Buffer broken = from_doubles(DType::f64, {4}, {1, -1, std::nan(""), 0.25});
  EXPECT_TRUE(std::isinf(compare_ratio(broken, truth, 0).required[kRatio]));
  EXPECT_TRUE(std::isinf(ratio_distance(broken, truth.value, truth)));
  ReferenceOutput unit_less = truth;
  unit_less.floor = 0;
  const Buffer off = from_doubles(DType::f64, {4}, {1, -1, 0.5, 0.26});
  EXPECT_TRUE(std::isinf(compare_ratio(off, unit_less, 0).required[kRatio]));
}

TEST(Ratio, ALostBitOfEveryWeightIsSeen) {
  const Suite suite = mlp_suite();
  const PreparedProgram prepared = prepare_program(suite.find("model.mlp/train/fp32/backward/canonical"));
  const Reference reference = program_reference(prepared);
  ASSERT_TRUE(reference.ok) << reference.message;
  const Observation coarse = evaluate_program(prepared, [](std::size_t, std::size_t, double value) { return round_to_bits(value, 11); });
  for (std::size_t i = 0; i < 6; ++i) {
    const ReferenceOutput& truth = reference.outputs[i];
    EXPECT_GT(truth.floor, 0);
    EXPECT_GT(compare_output(coarse.outputs[i].value, truth).required[kRatio], 100) << truth.name;
  }
}

}  // namespace
}  // namespace driftgate
