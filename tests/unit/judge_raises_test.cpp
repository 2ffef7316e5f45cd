// Cases that must raise, statistical cases, and results without elements.
#include <gtest/gtest.h>

#include "judge_fixture.hpp"

namespace driftgate {
namespace {

Suite suite_of(void (*change)(ArgumentSet& set), Bound bound = Bound::exact) {
  std::vector<Row> rows = {spec_row("copy", bound)};
  change(rows[0].cases[0]);
  return Suite(std::move(rows));
}

std::string verdict_of(const Suite& suite, const CaseRecord& record) {
  return verdict(judge_case(record, suite.find(record.id), row_of("row", 1)));
}

CaseRecord at_stage(const std::string& stage) {
  CaseRecord record = record_of(id_of("copy", "fp32"), {});
  record.stage = stage;
  return record;
}

TEST(JudgeRaises, AnErrorIsThePassAndAResultTheFailure) {
  const Suite suite = suite_of([](ArgumentSet& set) { set.raises = true; });
  EXPECT_EQ(verdict_of(suite, at_stage("raised")), "pass");
  EXPECT_EQ(judge_case(at_stage("raised"), suite.find(id_of("copy", "fp32")), row_of("row", 1)).repeat, State::pass);
  EXPECT_EQ(verdict_of(suite, at_stage("done")), "fail no_error");
  EXPECT_EQ(verdict_of(suite, at_stage("crashed")), "fail crashed");
  EXPECT_EQ(verdict_of(suite, at_stage("timed_out")), "fail timed_out");
  EXPECT_EQ(verdict_of(suite, at_stage("unsupported")), "skip unsupported");
  EXPECT_EQ(verdict_of(suite, at_stage("no_reference")), "error no_reference");
}

TEST(JudgeRaises, WithoutTheKeyAnErrorFails) { EXPECT_EQ(verdict_of(small_suite(), at_stage("raised")), "fail raised"); }

TEST(JudgeStatistical, NeedsNoGoldenButEveryTestWithinItsLimit) {
  const Suite suite = suite_of([](ArgumentSet& set) { set.law = Law::parse(parse_json(R"({"law": "uniform"})", "law"), "law"); }, Bound::statistical);
  const auto record = [](double law, double lags) {
    CaseRecord made = record_of(id_of("copy", "fp32"), {output_of(Bound::statistical, law, "law"), output_of(Bound::statistical, lags, "lags")});
    for (OutputRecord& output : made.outputs) output.golden.reset();
    made.golden_missing = true;
    return made;
  };
  EXPECT_EQ(verdict_of(suite, record(0.4, 0.6)), "pass");
  EXPECT_EQ(verdict_of(suite, record(0.4, 1.1)), "fail over_limit");
  EXPECT_EQ(verdict_of(suite, record(HUGE_VAL, 0.1)), "fail nonfinite");
  EXPECT_EQ(verdict_of(suite, record(kAbsent, 0.1)), "fail nonfinite") << "a test that was not made";
}

TEST(JudgeEmpty, AResultWithoutElementsCountsWhereAnInputHasNone) {
  CaseRecord record = record_of(id_of("copy", "fp32"), {output_of(Bound::exact, 0)});
  record.outputs[0].comparison.count = 0;
  record.outputs[0].comparison.zeros_required = 0;
  const Suite empty = suite_of([](ArgumentSet& set) { set.arguments.emplace_back("self", TensorArgument{{0, 3}, Fill{}, {}}); });
  const Suite full = suite_of([](ArgumentSet& set) { set.arguments.emplace_back("self", TensorArgument{{1, 3}, Fill{}, {}}); });
  EXPECT_EQ(verdict_of(empty, record), "pass");
  EXPECT_EQ(verdict_of(full, record), "untrusted zeros_would_pass") << "elements were due";
}

}  // namespace
}  // namespace driftgate
