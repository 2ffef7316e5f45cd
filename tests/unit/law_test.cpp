#include "case/law.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_name.hpp"

namespace driftgate {
namespace {

Law law(const char* text) { return Law::parse(parse_json(text, "law"), "spec: law"); }

TEST(Law, KnowsItsDistribution) {
  EXPECT_DOUBLE_EQ(law(R"({"law": "uniform", "low": -1, "high": 3})").up_to(0), 0.25);
  EXPECT_NEAR(law(R"({"law": "normal", "mean": 2, "scale": 3})").up_to(2 + 3 * 1.959963984540054), 0.975, 1e-12);
  EXPECT_NEAR(law(R"({"law": "log_normal", "mean": 1})").up_to(std::exp(1.0)), 0.5, 1e-12);
  EXPECT_NEAR(law(R"({"law": "exponential", "rate": 2})").up_to(std::log(2.0) / 2), 0.5, 1e-12);
  EXPECT_NEAR(law(R"({"law": "cauchy", "mean": 1, "scale": 2})").up_to(3), 0.75, 1e-12);
  EXPECT_NEAR(law(R"({"law": "erlang", "shape": 3})").up_to(2.674060313723561), 0.5, 1e-9);
  EXPECT_DOUBLE_EQ(law(R"({"law": "integers", "low": 1, "high": 4})").up_to(3), 0.75);
  EXPECT_DOUBLE_EQ(law(R"({"law": "integers", "low": 1, "high": 4})").below(3), 0.5);
  EXPECT_DOUBLE_EQ(law(R"({"law": "bernoulli", "p": 0.25, "value": 4})").below(4), 0.75);
  EXPECT_DOUBLE_EQ(law(R"({"law": "geometric", "p": 0.5})").up_to(2), 0.75);
  EXPECT_NEAR(law(R"({"law": "poisson", "rate": 2})").up_to(1), 3 * std::exp(-2.0), 1e-12);
  EXPECT_DOUBLE_EQ(law(R"({"law": "categorical", "weights": [1, 2, 1]})").up_to(1), 0.75);
}

TEST(Law, KnowsItsDomain) {
  EXPECT_TRUE(law(R"({"law": "uniform"})").possible(0));
  EXPECT_FALSE(law(R"({"law": "uniform"})").possible(1));
  EXPECT_FALSE(law(R"({"law": "exponential"})").possible(-1e-9));
  EXPECT_FALSE(law(R"({"law": "normal"})").possible(HUGE_VAL));
  EXPECT_FALSE(law(R"({"law": "geometric", "p": 0.5})").possible(0));
  EXPECT_TRUE(law(R"({"law": "poisson", "rate": 3})").possible(0));
  EXPECT_FALSE(law(R"({"law": "bernoulli", "value": 2})").possible(1));
  EXPECT_FALSE(law(R"({"law": "categorical", "weights": [1, 0, 1]})").possible(1)) << "a weight of 0";
}

TEST(Law, RefusesWhatItDoesNotKnow) {
  const auto error = [](const char* text) { return error_name([&] { law(text); }); };
  EXPECT_EQ(error(R"({"law": "gauss"})"), "bad_law");
  EXPECT_EQ(error(R"({"law": "normal", "rate": 1})"), "unknown_key");
  EXPECT_EQ(error(R"({"law": "normal", "scale": 0})"), "bad_value");
  EXPECT_EQ(error(R"({"law": "uniform", "low": 1, "high": 1})"), "bad_value");
  EXPECT_EQ(error(R"({"law": "integers", "low": 0.5})"), "bad_value");
  EXPECT_EQ(error(R"({"law": "bernoulli", "p": 1.5})"), "bad_value");
  EXPECT_EQ(error(R"({"law": "categorical", "weights": [1, -1]})"), "bad_value");
  EXPECT_EQ(error(R"({"law": "categorical"})"), "missing_key");
}

}  // namespace
}  // namespace driftgate
