#include "compare/metrics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace driftgate {
namespace {

using Values = std::vector<double>;

TEST(Metrics, EqualOutputsAgreeInEverything) {
  const Values logits = {1, 2, 3, -1, 0, 5};
  const Metrics metrics = measure_output(logits, logits, 3);
  EXPECT_NEAR(metrics.at("cosine"), 1, 1e-15);
  EXPECT_EQ(metrics.at("relative_rms"), 0);
  EXPECT_EQ(metrics.at("kl_mean"), 0);
  EXPECT_EQ(metrics.at("kl_max"), 0);
  EXPECT_EQ(metrics.at("top1"), 1);
}

TEST(Metrics, DivergenceIsThatOfTheFormula) {
  // p = (1/4, 3/4), q = (1/2, 1/2): KL(p || q) = 1/4 log 1/2 + 3/4 log 3/2
  const Values want = {0, std::log(3.0)}, got = {7, 7};
  const double kl = 0.25 * std::log(0.5) + 0.75 * std::log(1.5);
  const Metrics metrics = measure_output(got, want, 2);
  EXPECT_NEAR(metrics.at("kl_mean"), kl, 1e-15);
  EXPECT_NEAR(metrics.at("kl_p95"), kl, 1e-15);
}

TEST(Metrics, OneWrongRowShowsInTheMaximumAndTheTopClass) {
  Values want, got;
  for (int row = 0; row < 40; ++row) want.insert(want.end(), {0, 1, 2});
  got = want;
  got[0] = 9;
  const Metrics metrics = measure_output(got, want, 3);
  EXPECT_EQ(metrics.at("top1"), 39.0 / 40);
  EXPECT_EQ(metrics.at("kl_p95"), 0);
  EXPECT_GT(metrics.at("kl_max"), 1);
  EXPECT_NEAR(metrics.at("kl_mean"), metrics.at("kl_max") / 40, 1e-12);
}

TEST(Metrics, ScaleIsSeenByTheErrorAndNotByTheCosine) {
  const Metrics metrics = measure_output(Values{2, 4}, Values{1, 2}, 0);
  EXPECT_NEAR(metrics.at("cosine"), 1, 1e-15);
  EXPECT_NEAR(metrics.at("relative_rms"), 1, 1e-15);
  EXPECT_EQ(metrics.count("kl_mean"), 0U);
}

TEST(Metrics, NotANumberIsNeverGood) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Metrics metrics = measure_output(Values{nan, 1, 2, 3}, Values{0, 1, 2, 3}, 2);
  for (const char* name : {"cosine", "relative_rms", "kl_mean", "kl_max", "top1"}) EXPECT_TRUE(std::isnan(metrics.at(name))) << name;
}

}  // namespace
}  // namespace driftgate
