#include "run/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "inline_suite.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

Reference reference_of(const Suite& suite, const std::string& id) {
  const Prepared prepared = prepare(suite.find(id));
  ReferenceMaker maker(prepared);
  return maker.make();
}

std::string spec(const std::string& ops, const std::string& bound, const std::string& directions, const std::string& arguments, const std::string& extra = "") {
  return R"({"family": "f", "ops": [)" + ops + R"(], "bound": )" + bound + R"(, "policies": ["fp32", "fp16"], "directions": [)" + directions + "]" + extra +
         R"(, "cases": {"a": )" + arguments + "}}";
}

const char* const kMm = R"({"self": {"shape": [3, 16], "fill": "normal"}, "mat2": {"shape": [16, 5], "fill": "normal"}})";

TEST(Reference, IsTheOperatorInDouble) {
  const Suite suite = inline_suite(spec(R"("aten::exp")", R"("pointwise")", R"("forward")", R"({"self": {"shape": [7], "fill": "normal"}})"));
  const Prepared prepared = prepare(suite.find("exp/a/fp16/forward/canonical"));
  const Reference reference = ReferenceMaker(prepared).make();
  ASSERT_TRUE(reference.ok) << reference.message;
  const std::vector<double> x = to_doubles(prepared.inputs[0].buffer);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(reference.outputs[0].values[i], std::exp(x[i]), 1e-14 * std::exp(x[i]));
}

TEST(Reference, SensitivityOfAProductIsTheSumOfBothMoves) {
  const Suite suite = inline_suite(spec(R"("aten::mul.Tensor")", R"("pointwise")", R"("forward")",
                                        R"({"self": {"shape": [9], "fill": "normal"}, "other": {"shape": [9], "fill": "normal"}})"));
  const Reference reference = reference_of(suite, "mul.Tensor/a/fp32/forward/canonical");
  const ReferenceOutput& output = reference.outputs.at(0);
  for (std::size_t i = 0; i < output.values.size(); ++i)
    EXPECT_NEAR(output.sensitivity[i], 2 * kUnitRoundoff * std::fabs(output.values[i]), 1e-6 * kUnitRoundoff) << "corners must not cancel";
}

TEST(Reference, LinearUnitsAreTheSquaresAndTheTerms) {
  const Suite suite = inline_suite(spec(R"("aten::mm")", R"("linear")", R"("forward", "backward")", kMm));
  const Reference forward = reference_of(suite, "mm/a/fp32/forward/canonical");
  for (const double k : forward.outputs.at(0).terms) EXPECT_EQ(k, 16);
  for (const double q : forward.outputs.at(0).squares) EXPECT_GT(q, 0);
  const Reference backward = reference_of(suite, "mm/a/fp32/backward/canonical");
  ASSERT_EQ(backward.outputs.size(), 2U);
  for (const double k : backward.outputs[0].terms) EXPECT_EQ(k, 5) << "grad.self sums over the columns of mat2";
  for (const double k : backward.outputs[1].terms) EXPECT_EQ(k, 3) << "grad.mat2 sums over the rows of self";
}

TEST(Reference, NamesTheInputThatChangesNothing) {
  const Suite suite = inline_suite(spec(R"("aten::addmm")", R"("linear")", R"("forward")",
                                        R"({"self": {"shape": [3, 5], "fill": "normal"}, "mat1": {"shape": [3, 4], "fill": "normal"}, "mat2": {"shape": [4, 5], "fill": "normal"}, "beta": 0})"));
  EXPECT_EQ(reference_of(suite, "addmm/a/fp32/forward/canonical").inert, std::vector<std::string>{"self"});
  const Suite live = inline_suite(spec(R"("aten::mm")", R"("linear")", R"("forward", "backward")", kMm));
  EXPECT_TRUE(reference_of(live, "mm/a/fp32/forward/canonical").inert.empty());
  EXPECT_TRUE(reference_of(live, "mm/a/fp32/backward/canonical").inert.empty());
}

TEST(Runner, PassesAnHonestMatmulAndSeesTf32Inputs) {
  const Suite suite = inline_suite(spec(R"("aten::mm")", R"("linear")", R"("forward")", kMm));
  const Case c = suite.find("mm/a/fp32/forward/canonical");
  Runner runner(Device::cpu, nullptr);
  const CaseRecord record = runner.run(c);
  ASSERT_EQ(record.stage, "done") << record.message;
  EXPECT_TRUE(record.golden_missing);
  EXPECT_TRUE(record.outputs.at(0).repeat_bitwise);
  EXPECT_LT(record.outputs.at(0).comparison.required[static_cast<std::size_t>(Bound::linear)], 4);

  const Prepared prepared = prepare(c);
  ReferenceMaker maker(prepared);
  const Reference truth = maker.make();
  const Observation tf32 = maker.evaluate([](std::size_t, std::size_t, double value) { return round_to_bits(value, 11); });
  const Buffer rounded = from_doubles(DType::f32, truth.outputs[0].value.shape, to_doubles(tf32.outputs[0].value));
  EXPECT_GT(compare_output(rounded, truth.outputs[0]).required[static_cast<std::size_t>(Bound::linear)], 100);
}

TEST(Runner, AGoldenOfOtherInputsIsNotCompared) {
  const Suite suite = inline_suite(spec(R"("aten::mm")", R"("linear")", R"("forward")", kMm));
  const Case c = suite.find("mm/a/fp32/forward/canonical");
  const std::filesystem::path root = std::filesystem::temp_directory_path() / "driftgate_runner_test";
  Runner plain(Device::cpu, nullptr);
  plain.run(c);
  const Buffer value = plain.last_tensors().at("result"), truth = plain.last_tensors().at("result#reference");
  for (const bool same_inputs : {true, false}) {
    std::filesystem::remove_all(root);
    GoldenOutput output;
    output.name = "result";
    output.shape = value.shape;
    output.digest = hex(digest(value));
    output.sample = take(value, sample_positions(value.shape));
    const std::vector<double> all = to_doubles(truth);
    for (const std::size_t p : double_positions(all.size())) output.doubles.push_back(all[p]);
    GoldenContent content;
    content["f"]["mm/a/fp32/forward/canonical"] = {same_inputs ? hex(prepare(c).digest) : std::string(32, '0'), {output}};
    write_golden_set(root, Json::object(), content);
    const GoldenSet set = GoldenSet::open(root);
    const CaseRecord record = Runner(Device::cpu, &set).run(c);
    EXPECT_EQ(record.golden_input_differs, !same_inputs);
    EXPECT_EQ(record.outputs.at(0).golden.has_value(), same_inputs);
    if (same_inputs) {
      EXPECT_EQ(record.outputs[0].golden->direct, 0);
      EXPECT_LT(record.outputs[0].golden->reference_gap, 1e-6);
    }
  }
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace driftgate
