// What is judged otherwise of a program: one limit in every policy, the policy observed, a golden all the same.
#include <gtest/gtest.h>

#include "judge_fixture.hpp"

namespace driftgate {
namespace {

const Suite& program_suite() {
  static const Suite suite([] {
    Row row = spec_row("models", Bound::ratio);
    row.ops = {"model::mlp"};
    return std::vector<Row>{row};
  }());
  return suite;
}

// The verdict on a record of a policy that needs `required` of 8 and saw these dtypes.
std::string after(const std::string& policy, double required, std::map<std::string, std::int64_t> observed, double golden = 1, bool with_golden = true) {
  CaseRecord record = record_of("model.mlp/wide/" + policy + "/forward/canonical", {output_of(Bound::ratio, required)});
  record.observed = std::move(observed);
  record.outputs[0].golden->required = golden;
  if (!with_golden) {
    record.outputs[0].golden.reset();
    record.golden_missing = true;
  }
  return verdict(judge_case(record, program_suite().find(record.id), row_of("models", 8)));
}

TEST(JudgeProgram, SoundRecordPasses) {
  EXPECT_EQ(after("fp32", 7, {{"f32", 9}}), "pass");
  EXPECT_EQ(after("fp32", 9, {{"f32", 9}}), "fail over_limit");
}

TEST(JudgeProgram, HalfPoliciesHaveNoSecondTier) {
  EXPECT_EQ(after("amp_fp16", 7, {{"f16", 3}, {"f32", 9}}), "pass");
  EXPECT_EQ(after("amp_fp16", 9, {{"f16", 3}, {"f32", 9}}), "fail over_limit");
  EXPECT_EQ(after("bf16", 9, {{"bf16", 3}}, 40), "untrusted golden_over_limit") << "a loose golden does not widen the limit";
}

TEST(JudgeProgram, ThePolicyMustBeSeen) {
  EXPECT_EQ(after("amp_bf16", 1, {{"f32", 9}}), "untrusted policy_not_observed");
  EXPECT_EQ(after("fp16", 1, {{"bf16", 9}}), "untrusted policy_not_observed");
  EXPECT_EQ(after("fp32", 1, {{"f16", 1}, {"f32", 9}}), "untrusted policy_not_observed");
}

TEST(JudgeProgram, WithoutAGoldenNothingPasses) {
  EXPECT_EQ(after("fp32", 1, {{"f32", 9}}, 1, false), "untrusted golden_missing");
  EXPECT_EQ(after("fp32", 9, {{"f32", 9}}, 1, false), "fail over_limit");
}

}  // namespace
}  // namespace driftgate
