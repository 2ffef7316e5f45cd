#include "device/executor.hpp"

#include <gtest/gtest.h>

#include "device/torch_types.hpp"
#include "error.hpp"
#include "inline_suite.hpp"

namespace driftgate {
namespace {

constexpr const char* kUnary = R"("family": "f", "bound": "pointwise", "policies": ["fp32"], "directions": ["forward"])";

std::string row(const std::string& op, const std::string& arguments, const std::string& extra = kUnary) {
  return R"({"ops": [")" + op + R"("], )" + extra + R"(, "cases": {"a": )" + arguments + "}}";
}

Observation run(const Suite& suite, const std::string& id, Device device = Device::cpu) {
  const Prepared prepared = prepare(suite.find(id));
  std::vector<at::Tensor> inputs;
  for (const PreparedInput& input : prepared.inputs) inputs.push_back(to_tensor(input.buffer));
  const Upstream ones = [](std::size_t, const at::Tensor& output) { return at::ones(output.sizes(), c10::kDouble); };
  return Executor(device).run(prepared, inputs, ones);
}

std::string error_of(const std::string& spec, const std::string& id) {
  const Suite suite = inline_suite(spec);
  try {
    prepare(suite.find(id));
  } catch (const Error& error) {
    return error.name() + " " + error.what();
  }
  return "";
}

TEST(Executor, RunsAnOperatorByItsSchema) {
  const Suite suite = inline_suite(row("aten::add.Tensor", R"x({"self": {"shape": [4], "fill": "constant(value=2)"}, "other": {"shape": [4], "fill": "constant(value=3)"}, "alpha": 2})x"));
  const Observation observation = run(suite, "add.Tensor/a/fp32/forward/canonical");
  ASSERT_EQ(observation.stage, "done") << observation.message;
  EXPECT_EQ(to_doubles(observation.outputs.at(0).value), std::vector<double>(4, 8.0));
}

TEST(Executor, AnIntegerGivenForAFloatIsConverted) {
  const Suite suite = inline_suite(row("aten::leaky_relu", R"x({"self": {"shape": [2], "fill": "constant(value=-3)"}, "negative_slope": 2})x"));
  EXPECT_EQ(to_doubles(run(suite, "leaky_relu/a/fp32/forward/canonical").outputs.at(0).value), std::vector<double>(2, -6.0));
}

TEST(Executor, ANumberForATensorDoesNotPromote) {
  const Suite suite = inline_suite(row("aten::mul.Tensor", R"x({"self": {"shape": [2], "fill": "constant(value=3)"}, "other": 0.5})x",
                                       R"("family": "f", "bound": "pointwise", "policies": ["fp16"], "directions": ["forward"])"));
  const Observation observation = run(suite, "mul.Tensor/a/fp16/forward/canonical");
  EXPECT_EQ(observation.outputs.at(0).value.dtype, DType::f16) << "a wrapped number must not widen the result";
}

TEST(Executor, ListsOfTensorsAndOptionalsArrive) {
  const Suite suite = inline_suite(row("aten::cat", R"x({"tensors": [{"shape": [2], "fill": "constant(value=1)"}, {"shape": [1], "fill": "constant(value=7)"}], "dim": 0})x"));
  EXPECT_EQ(to_doubles(run(suite, "cat/a/fp32/forward/canonical").outputs.at(0).value), (std::vector<double>{1, 1, 7}));
}

TEST(Executor, NamesAnUnknownOperatorAnArgumentAndAType) {
  EXPECT_NE(error_of(row("aten::no_such_op", R"({"self": {"shape": [1], "fill": "normal"}})"), "no_such_op/a/fp32/forward/canonical").find("unknown_op"), std::string::npos);
  EXPECT_NE(error_of(row("aten::exp", R"({"self": {"shape": [1], "fill": "normal"}, "dim": 1})"), "exp/a/fp32/forward/canonical").find("no such argument"), std::string::npos);
  EXPECT_NE(error_of(row("aten::cumsum", R"({"self": {"shape": [1], "fill": "normal"}, "dim": "x"})"), "cumsum/a/fp32/forward/canonical").find("bad_argument"), std::string::npos);
  EXPECT_NE(error_of(row("aten::mm", R"({"self": {"shape": [1, 1], "fill": "normal"}})"), "mm/a/fp32/forward/canonical").find("needs this argument"), std::string::npos);
  EXPECT_EQ(error_of(row("aten::exp", R"({"self": {"shape": [1], "fill": "normal"}})"), "exp/a/fp32/forward/canonical"), "");
}

TEST(Executor, AnErrorOfTheOperatorIsAStage) {
  const Suite suite = inline_suite(row("aten::mm", R"({"self": {"shape": [2, 3], "fill": "normal"}, "mat2": {"shape": [2, 3], "fill": "normal"}})"));
  const Observation observation = run(suite, "mm/a/fp32/forward/canonical");
  EXPECT_EQ(observation.stage, "raised");
  EXPECT_FALSE(observation.message.empty());
  EXPECT_TRUE(observation.outputs.empty());
}

TEST(Executor, AMissingKernelIsUnsupportedNotAnError) {
  const Suite suite = inline_suite(row("aten::linalg_cholesky", R"({"self": {"shape": [3, 3], "fill": "spd"}})",
                                       R"("family": "f", "bound": "general", "policies": ["fp16"], "directions": ["forward"])"));
  EXPECT_EQ(run(suite, "linalg_cholesky/a/fp16/forward/canonical").stage, "unsupported");
}

TEST(Executor, InputsAreLeftAsTheyWere) {
  const Suite suite = inline_suite(row("aten::add_.Tensor", R"x({"self": {"shape": [3], "fill": "normal"}, "other": {"shape": [3], "fill": "constant(value=5)"}})x"));
  const Prepared prepared = prepare(suite.find("add_.Tensor/a/fp32/forward/canonical"));
  std::vector<at::Tensor> inputs;
  for (const PreparedInput& input : prepared.inputs) inputs.push_back(to_tensor(input.buffer));
  const Observation observation = Executor(Device::cpu).run(prepared, inputs, nullptr);
  ASSERT_EQ(observation.stage, "done");
  EXPECT_EQ(to_buffer(inputs[0]).bytes, prepared.inputs[0].buffer.bytes);
  EXPECT_NE(observation.outputs.at(0).value.bytes, prepared.inputs[0].buffer.bytes) << "the in-place operator did nothing";
}

TEST(Executor, GradientsCarryTheNamesOfTheirArguments) {
  const Suite suite = inline_suite(row("aten::mul.Tensor", R"x({"self": {"shape": [2], "fill": "constant(value=3)"}, "other": {"shape": [2], "fill": "constant(value=4)"}})x",
                                       R"("family": "f", "bound": "pointwise", "policies": ["fp32"], "directions": ["backward"])"));
  const Observation observation = run(suite, "mul.Tensor/a/fp32/backward/canonical");
  ASSERT_EQ(observation.outputs.size(), 2U) << observation.message;
  EXPECT_EQ(observation.outputs[0].name, "grad.self");
  EXPECT_EQ(to_doubles(observation.outputs[0].value), std::vector<double>(2, 4.0));
  EXPECT_EQ(to_doubles(observation.outputs[1].value), std::vector<double>(2, 3.0));
}

TEST(Executor, AmpRunsInHalfOnInputsThatHalfHolds) {
  const Suite suite = inline_suite(row("aten::mm", R"x({"self": {"shape": [3, 5], "fill": "normal"}, "mat2": {"shape": [5, 2], "fill": "normal"}})x",
                                       R"("family": "f", "bound": "linear", "policies": ["fp32", "amp_fp16", "amp_bf16"], "directions": ["forward", "backward"])"));
  for (const auto& [policy, half] : {std::pair("amp_fp16", DType::f16), std::pair("amp_bf16", DType::bf16)}) {
    const Prepared prepared = prepare(suite.find("mm/a/" + std::string(policy) + "/forward/canonical"));
    for (const PreparedInput& input : prepared.inputs) {
      EXPECT_EQ(input.buffer.dtype, DType::f32);
      const std::vector<double> values = to_doubles(input.buffer);
      EXPECT_EQ(to_doubles(from_doubles(half, input.buffer.shape, values)), values) << "autocast must not round an input";
    }
    EXPECT_EQ(run(suite, "mm/a/" + std::string(policy) + "/forward/canonical").outputs.at(0).value.dtype, half);
    EXPECT_EQ(run(suite, "mm/a/" + std::string(policy) + "/backward/canonical").outputs.at(0).value.dtype, DType::f32) << "of an fp32 leaf";
  }
  EXPECT_EQ(run(suite, "mm/a/fp32/forward/canonical").outputs.at(0).value.dtype, DType::f32) << "autocast ends with the call";
}

TEST(Executor, IndicesAreJudgedByWhatTheyName) {
  const Suite suite = inline_suite(row("aten::sort", R"({"self": {"shape": [6], "fill": "values", "values": [3, 1, 2, 1, 3, 0]}, "dim": 0})",
                                       R"("family": "f", "bound": "exact", "indices": "gather", "policies": ["fp32"], "directions": ["forward"])"));
  const Observation observation = run(suite, "sort/a/fp32/forward/canonical");
  ASSERT_EQ(observation.outputs.size(), 2U) << observation.message;
  EXPECT_EQ(to_doubles(observation.outputs[0].value), to_doubles(observation.outputs[1].value));
}

TEST(Executor, CapturesTheWarningsOfTheCase) {
  // linspace-like broadcasting of a deprecated form is not stable; a non-deterministic accumulate with warn_only is.
  set_numeric_flags(false);
  const Suite suite = inline_suite(row("aten::put", R"({"self": {"shape": [4], "fill": "normal"}, "index": {"shape": [2], "fill": "permutation", "dtype": "i64"}, "source": {"shape": [2], "fill": "normal"}})",
                                       R"("family": "f", "bound": "exact", "policies": ["fp32"], "directions": ["forward"])"));
  const Observation observation = run(suite, "put/a/fp32/forward/canonical");
  ASSERT_EQ(observation.stage, "done") << observation.message;
  ASSERT_EQ(observation.warnings.size(), 1U);
  EXPECT_NE(observation.warnings.begin()->find("deterministic"), std::string::npos);
  EXPECT_TRUE(run(inline_suite(row("aten::exp", R"({"self": {"shape": [1], "fill": "normal"}})")), "exp/a/fp32/forward/canonical").warnings.empty());
}

}  // namespace
}  // namespace driftgate
