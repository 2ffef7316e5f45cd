// Operators that write their arguments, random operators, cases that must raise, and the trace.
#include <gtest/gtest.h>

#include "device/torch_types.hpp"
#include "error.hpp"
#include "inline_suite.hpp"
#include "report/coverage.hpp"
#include "run/runner.hpp"
#include "run/trace.hpp"

namespace driftgate {
namespace {

constexpr const char* kExact = R"("family": "f", "bound": "exact", "policies": ["fp32"], "directions": ["forward"])";
constexpr const char* kRandom = R"("family": "f", "bound": "statistical", "policies": ["fp32"], "directions": ["forward"])";

std::string row(const std::string& op, const std::string& arguments, const std::string& keys = kExact) {
  return R"({"ops": ["aten::)" + op + R"("], )" + keys + R"(, "cases": {"a": )" + arguments + "}}";
}

CaseRecord record_of(const std::string& spec, const std::string& op) {
  const Suite suite = inline_suite(spec);
  return Runner(Device::cpu, nullptr).run(suite.find(op + "/a/fp32/forward/canonical"));
}

double required(const CaseRecord& record, const std::string& output) {
  for (const OutputRecord& found : record.outputs)
    if (found.name == output) return found.comparison.required[static_cast<std::size_t>(found.bound)];
  return kAbsent;
}

TEST(Breadth, AnOperatorThatReturnsNothingGivesWhatItWrote) {
  const CaseRecord record = record_of(row("_foreach_add_.Scalar", R"x({"self": [{"shape": [3], "fill": "constant(value=2)"}, {"shape": [2], "fill": "constant(value=1)"}], "scalar": 1})x"),
                                      "_foreach_add_.Scalar");
  ASSERT_EQ(record.stage, "done") << record.message;
  ASSERT_EQ(record.outputs.size(), 2U);
  EXPECT_EQ(record.outputs[1].shape, Shape({2}));
}

TEST(Breadth, WhatIsReturnedIsNotGivenTwice) {
  const CaseRecord record = record_of(row("fill_.Scalar", R"x({"self": {"shape": [3], "fill": "normal"}, "value": 1})x", std::string(kExact) + R"(, "inert": ["self"])"), "fill_.Scalar");
  EXPECT_EQ(record.outputs.size(), 1U);
}

TEST(Breadth, AFactoryRunsAndANumberIsAnOutput) {
  EXPECT_EQ(record_of(row("arange", R"({"end": 5, "dtype": "i64"})"), "arange").stage, "done");
  const CaseRecord number = record_of(row("_local_scalar_dense", R"x({"self": {"shape": [], "fill": "constant(value=3)"}})x"), "_local_scalar_dense");
  ASSERT_EQ(number.outputs.size(), 1U);
  EXPECT_EQ(number.outputs[0].shape, Shape());
}

TEST(Breadth, ACaseThatMustRaiseRaisesOrHasNoReference) {
  const std::string raising = R"x({"self": {"shape": [3, 4], "fill": "normal"}, "dim": 2, "raises": true})x";
  EXPECT_EQ(record_of(row("cumsum", raising), "cumsum").stage, "raised");
  const std::string sound = R"x({"self": {"shape": [3, 4], "fill": "normal"}, "dim": 1, "raises": true})x";
  EXPECT_EQ(record_of(row("cumsum", sound), "cumsum").stage, "no_reference") << "the spec is wrong";
}

TEST(Breadth, ARandomOperatorIsHeldToItsLaw) {
  const auto spec = [](const char* law) {
    return row("uniform_", std::string(R"x({"self": {"shape": [64, 256], "fill": "constant(value=0)"}, "statistical": )x") + law + "}", kRandom);
  };
  const CaseRecord right = record_of(spec(R"({"law": "uniform"})"), "uniform_");
  ASSERT_EQ(right.outputs.size(), 8U) << right.message;
  for (const OutputRecord& output : right.outputs) EXPECT_LT(required(right, output.name), 1) << output.name;
  const CaseRecord wrong = record_of(spec(R"({"law": "uniform", "low": 0, "high": 0.75})"), "uniform_");
  for (const char* test : {"domain", "law", "moments", "strided"}) EXPECT_GT(required(wrong, test), 1) << test;
  EXPECT_EQ(required(wrong, "reseed"), 0);
}

TEST(Breadth, AnOperatorThatIsNotRandomFailsTheStateTest) {
  const CaseRecord record = record_of(row("fill_.Scalar", R"x({"self": {"shape": [4096], "fill": "constant(value=0)"}, "value": 0.25, "statistical": {"law": "uniform"}})x", kRandom), "fill_.Scalar");
  EXPECT_GT(required(record, "state"), 1) << "the second call drew the same";
  EXPECT_GT(required(record, "calls"), 1);
  EXPECT_GT(required(record, "lags"), 1);
  EXPECT_GT(required(record, "law"), 1);
}

TEST(Breadth, TheTraceSeesWhatACompositeCalls) {
  const Suite suite = inline_suite(row("cummax", R"x({"self": {"shape": [3, 4], "fill": "normal"}, "dim": 1})x"));
  EXPECT_TRUE(traced_operators(suite.find("cummax/a/fp32/forward/canonical")).count("_cummax_helper"));
  EXPECT_FALSE(traced_operators(suite.find("cummax/a/fp32/forward/canonical")).count("_cummin_helper"));
}

TEST(Breadth, EveryOperatorSaidToBeReachedIsReachedAgain) {
  const std::filesystem::path home = DRIFTGATE_SOURCE_DIR;
  const Suite suite = Suite::load(home / "tests/cases");
  std::int64_t reached = 0;
  for (const CoveredOp& op : coverage_of(suite, home / "data").ops) {
    if (op.traced.empty()) continue;
    ++reached;
    EXPECT_TRUE(traced_operators(suite.find(op.traced)).count(op.op)) << op.op << " by " << op.traced << ": run `driftgate coverage --trace`";
  }
  EXPECT_GE(reached, 50);
}

}  // namespace
}  // namespace driftgate
