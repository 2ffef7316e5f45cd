// Half policies, TF32, determinism and bluntness.
#include <gtest/gtest.h>

#include "judge_fixture.hpp"

namespace driftgate {
namespace {

constexpr double kFp16 = 0x1p13, kBf16 = 0x1p16;

Judgement judge_policy(const std::string& policy, double required, double golden_required, ToleranceRow row = row_of("softmax", 4)) {
  OutputRecord output = output_of(Bound::general, required);
  output.golden->required = golden_required;
  output.dtype = name(computed_dtype(parse_policy(policy, "here")));
  return judge_one(record_of(id_of("softmax", policy), {output}), row);
}

ToleranceRow loose_row() {
  ToleranceRow row = row_of("softmax", 4);
  row.tier = Tier::loose;
  return row;
}

TEST(JudgeTier, StrictRowAsksTheStrictTier) {
  const Judgement pass = judge_policy("fp16", 4, 1);
  EXPECT_EQ(verdict(pass), "pass");
  EXPECT_EQ(pass.asked, Tier::strict);
  EXPECT_EQ(pass.reached, Tier::strict);
  EXPECT_FALSE(pass.blunt);
  const Judgement fail = judge_policy("fp16", 5, 1);
  EXPECT_EQ(verdict(fail), "fail over_limit");
  EXPECT_EQ(fail.reached, Tier::loose);
}

TEST(JudgeTier, GoldenThatIsLooseLowersARow) {
  for (const auto& [policy, scale] : {std::pair("fp16", kFp16), std::pair("bf16", kBf16), std::pair("amp_fp16", kFp16), std::pair("amp_bf16", kBf16)}) {
    const Judgement pass = judge_policy(policy, 16 * scale, 5);
    EXPECT_EQ(verdict(pass), "pass") << policy;
    EXPECT_EQ(pass.asked, Tier::loose);
    EXPECT_EQ(pass.reached, Tier::loose);
    EXPECT_EQ(pass.limit, 16 * scale) << "in strict units";
    EXPECT_TRUE(pass.blunt) << "the loose tier is no evidence for training";
    const Judgement better = judge_policy(policy, 3, 5);
    EXPECT_EQ(better.reached, Tier::strict) << "better than the golden";
    EXPECT_FALSE(better.blunt) << "asked for less, and sharp all the same";
    EXPECT_EQ(verdict(judge_policy(policy, 17 * scale, 5)), "fail over_limit");
    const Judgement beyond = judge_policy(policy, 3, 17 * scale);
    EXPECT_EQ(verdict(beyond), "untrusted golden_over_limit");
    EXPECT_EQ(beyond.asked, Tier::strict) << "a golden beyond both tiers lowers nothing";
  }
}

TEST(JudgeTier, AnOperatorUnderAutocastGivesTheHalfType) {
  OutputRecord output = output_of(Bound::general, 1);
  output.dtype = "f16";
  EXPECT_EQ(verdict(judge_one(record_of(id_of("softmax", "amp_fp16"), {output}), row_of("softmax", 4))), "pass");
  EXPECT_EQ(verdict(judge_one(record_of(id_of("softmax", "amp_bf16"), {output}), row_of("softmax", 4))), "untrusted policy_not_observed");
  output.dtype = "f32";
  EXPECT_EQ(verdict(judge_one(record_of(id_of("softmax", "amp_fp16"), {output}), row_of("softmax", 4))), "untrusted policy_not_observed");
}

TEST(JudgeTier, StoredDoublesMustAgreeWhateverTheTier) {
  const auto with_gap = [](double gap) {
    OutputRecord output = output_of(Bound::general, 3);
    output.golden->reference_gap = gap;
    return verdict(judge_one(record_of(id_of("softmax", "fp16"), {output}), loose_row()));
  };
  EXPECT_EQ(with_gap(0.01), "pass");
  EXPECT_EQ(with_gap(0.011), "untrusted reference_disagrees");
}

TEST(JudgeTier, GoldenThatRepeatsLooselyLowersARowToo) {
  OutputRecord output = output_of(Bound::general, 100);
  output.golden->spread = 50;
  EXPECT_EQ(judge_one(record_of(id_of("softmax", "fp16"), {output}), row_of("softmax", 4)).asked, Tier::loose);
  output.golden->spread = 17 * kFp16;
  EXPECT_EQ(verdict(judge_one(record_of(id_of("softmax", "fp16"), {output}), row_of("softmax", 4))), "untrusted golden_over_limit");
}

TEST(JudgeTier, LooseRowAsksTheLooseTier) {
  const Judgement pass = judge_policy("bf16", 16 * kBf16, 1, loose_row());
  EXPECT_EQ(verdict(pass), "pass");
  EXPECT_EQ(pass.asked, Tier::loose);
  EXPECT_TRUE(pass.blunt);
  EXPECT_EQ(verdict(judge_policy("bf16", 17 * kBf16, 1, loose_row())), "fail over_limit");
  ToleranceRow own = loose_row();
  own.loose_limit = 2;
  EXPECT_EQ(verdict(judge_policy("bf16", 3 * kBf16, 1, own)), "fail over_limit");
}

TEST(JudgeTier, Fp32HasNoLooseTier) {
  EXPECT_EQ(verdict(judge_policy("fp32", 4, 1, loose_row())), "pass");
  EXPECT_EQ(verdict(judge_policy("fp32", 5, 1, loose_row())), "fail over_limit");
  EXPECT_EQ(verdict(judge_policy("fp32", 3, 5)), "untrusted golden_over_limit");
}

TEST(JudgeTier, ExactOutputIsNeverLoosened) {
  OutputRecord output = output_of(Bound::exact, 1);
  output.golden->required = 1;
  ToleranceRow row = row_of("copy", 0);
  row.tier = Tier::loose;
  const Judgement j = judge_one(record_of(id_of("copy", "fp16"), {output}), row);
  EXPECT_EQ(verdict(j), "untrusted golden_over_limit");
  EXPECT_EQ(j.asked, Tier::strict);
  output.golden->required = 0;
  EXPECT_EQ(verdict(judge_one(record_of(id_of("copy", "fp16"), {output}), row)), "fail over_limit");
}

TEST(JudgeTier, ZerosAreTriedAtTheTierAsked) {
  OutputRecord output = output_of(Bound::general, 1);
  output.comparison.zeros_required = 1e4;
  EXPECT_EQ(verdict(judge_one(record_of(id_of("softmax", "fp16"), {output}), row_of("softmax", 4))), "pass");
  EXPECT_EQ(verdict(judge_one(record_of(id_of("softmax", "fp16"), {output}), loose_row())), "untrusted zeros_would_pass");
}

TEST(JudgeTier, BluntRowMakesABluntJudgement) {
  ToleranceRow row = row_of("softmax", 64);
  EXPECT_FALSE(judge_policy("fp32", 4, 1, row).blunt);
  row.blunt = true;
  EXPECT_TRUE(judge_policy("fp32", 4, 1, row).blunt);
}

bool tf32_class(const std::string& policy, double required, double tf32) {
  OutputRecord output = output_of(Bound::general, required);
  output.golden->tf32_required = tf32;
  return judge_one(record_of(id_of("softmax", policy), {output}), row_of("softmax", 4)).tf32_class;
}

TEST(JudgeTier, ErrorOfTheGoldensTf32PassIsCalledByName) {
  EXPECT_TRUE(tf32_class("fp32", 1000, 1000));
  EXPECT_TRUE(tf32_class("fp32", 125, 1000));
  EXPECT_TRUE(tf32_class("fp32", 8000, 1000));
  EXPECT_FALSE(tf32_class("fp32", 124, 1000)) << "much better than tf32";
  EXPECT_FALSE(tf32_class("fp32", 8001, 1000)) << "much worse";
  EXPECT_FALSE(tf32_class("fp32", kInf, 1000));
  EXPECT_FALSE(tf32_class("fp32", 40, 40)) << "tf32 is not told apart here";
  EXPECT_FALSE(tf32_class("fp32", 1000, kAbsent)) << "the golden has no such pass";
  EXPECT_FALSE(tf32_class("fp32", 3, 1000)) << "it passes";
  EXPECT_FALSE(tf32_class("bf16", 1000, 1000)) << "nobody asked for fp32";
}

State repeat_of(const std::string& family, bool bitwise, double distance) {
  OutputRecord output = output_of(Bound::general, 1);
  output.repeat_bitwise = bitwise;
  output.repeat = distance;
  return judge_one(record_of(id_of(family, "fp32"), {output}), row_of(family, 4)).repeat;
}

TEST(JudgeRepeat, TwoRunsMustAgreeInBits) {
  EXPECT_EQ(repeat_of("softmax", true, 0), State::pass);
  EXPECT_EQ(repeat_of("softmax", false, 1e-3), State::fail);
}

TEST(JudgeRepeat, AtomicsMayDifferWithinTheLimit) {
  EXPECT_EQ(repeat_of("scatter", false, 4), State::pass);
  EXPECT_EQ(repeat_of("scatter", false, 5), State::fail);
  EXPECT_EQ(repeat_of("scatter", false, kAbsent), State::fail);
}

TEST(JudgeRepeat, NothingToRepeatIsSkipped) {
  EXPECT_EQ(judge_one(record_of(id_of("softmax", "fp32"), {}), row_of("softmax", 4)).repeat, State::skip);
}

}  // namespace
}  // namespace driftgate
