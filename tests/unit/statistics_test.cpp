#include "compare/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "case/case.hpp"
#include "case/fill.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kCount = 1 << 16;

Law law(const char* text) { return Law::parse(parse_json(text, "law"), "law"); }

std::vector<double> uniforms(const char* key = "statistics", double low = 0, double high = 1) {
  return to_doubles(fill_tensor(Fill{"uniform", {{"low", low}, {"high", high}}, {}}, DType::f32, {kCount}, key));
}

const Law kUniform = law(R"({"law": "uniform"})");

TEST(Statistics, SoundSamplesPassEveryTest) {
  const std::vector<double> samples = uniforms(), more = uniforms("another key");
  EXPECT_EQ(domain_test(kUniform, samples), 0);
  EXPECT_LT(law_test(kUniform, samples), 1);
  EXPECT_LT(moments_test(kUniform, samples), 1);
  EXPECT_LT(lags_test(kUniform, samples), 1);
  EXPECT_LT(calls_test(kUniform, samples, more), 1);
}

TEST(Statistics, ASampleOutsideTheDomainIsNeverExcused) {
  std::vector<double> samples = uniforms();
  for (const double outside : {1.0, -0x1p-24, std::nan(""), HUGE_VAL}) {
    samples[77] = outside;
    EXPECT_EQ(domain_test(kUniform, samples), HUGE_VAL) << outside;
  }
}

TEST(Statistics, AWrongScaleOrPlaceIsSeen) {
  EXPECT_GT(law_test(kUniform, uniforms("k", 0, 0.95)), 1);
  EXPECT_GT(law_test(kUniform, uniforms("k", 0.05, 1)), 1);
  EXPECT_GT(moments_test(kUniform, uniforms("k", 0.05, 1)), 1) << "the mean";
  EXPECT_GT(moments_test(kUniform, uniforms("k", 0.05, 0.95)), 1) << "the spread";
}

TEST(Statistics, RepeatedSamplesAreSeen) {
  for (const std::size_t period : {1, 2, 5, 8, 64, 1024, 32768}) {
    std::vector<double> samples = uniforms();
    for (std::size_t i = period; i < samples.size(); ++i) samples[i] = samples[i - period];
    EXPECT_GT(lags_test(kUniform, samples), 1) << period;
  }
}

TEST(Statistics, TwoCallsThatDrawTheSameAreSeen) {
  const std::vector<double> samples = uniforms();
  EXPECT_GT(calls_test(kUniform, samples, samples), 1);
}

TEST(Statistics, NotANumberAndNothingNeverPass) {
  std::vector<double> samples = uniforms();
  samples[5] = std::nan("");
  for (const auto test : {law_test, moments_test, lags_test}) {
    EXPECT_EQ(test(kUniform, samples), HUGE_VAL);
    EXPECT_EQ(test(kUniform, {}), HUGE_VAL);
  }
  EXPECT_EQ(calls_test(kUniform, samples, samples), HUGE_VAL);
  EXPECT_EQ(calls_test(kUniform, uniforms(), {}), HUGE_VAL);
}

TEST(Statistics, ADiscreteLawIsJudgedByItsAtoms) {
  const Law fair = law(R"({"law": "integers", "low": 0, "high": 9})");
  std::vector<double> samples = uniforms();
  for (double& x : samples) x = std::floor(10 * x);
  EXPECT_LT(law_test(fair, samples), 1);
  EXPECT_LT(moments_test(fair, samples), 1);
  EXPECT_LT(lags_test(fair, samples), 1);
  for (double& x : samples) x = x == 9 ? 0 : x;                  // an end that is never drawn
  EXPECT_GT(law_test(fair, samples), 1);
  EXPECT_GT(moments_test(fair, samples), 1);
  samples[3] = 4.5;
  EXPECT_EQ(domain_test(fair, samples), HUGE_VAL);
}

TEST(Statistics, APermutationNamesEachNumberOnce) {
  const Law order = law(R"({"law": "permutation", "count": 65536})");
  std::vector<double> samples = to_doubles(fill_tensor(Fill{"permutation", {}, {}}, DType::i64, {kCount}, "order"));
  EXPECT_EQ(domain_test(order, samples), 0);
  EXPECT_LT(lags_test(order, samples), 1);
  samples[1] = samples[0];
  EXPECT_EQ(domain_test(order, samples), HUGE_VAL) << "twice";
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i);
  EXPECT_GT(lags_test(order, samples), 1) << "sorted";
}

// 5 to 8 tests a case (run/statistical.hpp).
TEST(Statistics, ARunAlarmsFalselyLessThanOnceInAMillion) {
  static_assert(kFalseAlarm * kMostTests < 1e-6);
  std::int64_t cases = 0;
  Filter all;
  all.tier = SuiteTier::large;
  Suite::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tests/cases").for_each(all, [&](const Case& c) { cases += c.arguments->law.has_value(); });
  EXPECT_GE(cases, 40);
  EXPECT_LE(8 * cases, kMostTests);
}

}  // namespace
}  // namespace driftgate
