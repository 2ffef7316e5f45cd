#include "case/fill.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "error_name.hpp"

namespace driftgate {
namespace {

std::vector<double> filled(const std::string& text, const Shape& shape, const std::string& key = "op/case/self") {
  return to_doubles(fill_tensor(parse_fill(text, "spec"), DType::f64, shape, key));
}

std::string fill_error(const std::string& text) {
  return error_name([&] { parse_fill(text, "spec"); });
}

TEST(Fill, TextParsesAndComesBack) {
  for (const char* text : {"normal", "normal(scale=30)", "uniform(high=0.5, low=-1e-07)", "binades(high=4, low=-4)", "values", "spd"}) {
    EXPECT_EQ(to_string(parse_fill(text, "spec")), text);
  }
  const Fill fill = parse_fill(" normal ( scale = 2.5 ,mean=-1 ) ", "spec");
  EXPECT_EQ(fill.domain, "normal");
  EXPECT_EQ(fill.parameters, (std::map<std::string, double>{{"mean", -1}, {"scale", 2.5}}));
}

TEST(Fill, WrongTextIsRefusedAndTheKeyNamed) {
  for (const char* text : {"",
                           "gauss",
                           "Normal",
                           "normal(",
                           "normal)",
                           "normal()",
                           "normal(scale)",
                           "normal(scale=)",
                           "normal(scale=x)",
                           "normal(scale=1 2)",
                           "normal(scale=1,)",
                           "normal(scale=1, scale=2)",
                           "normal(scale=1) x",
                           "normal(low=1)",
                           "normal(=1)",
                           "spd(n=2)",
                           "values(1)",
                           "normal(scale=inf)",
                           "normal(mean=nan)",
                           "permutation(step=1)"}) {
    EXPECT_EQ(fill_error(text), "bad_fill") << text;
  }
  EXPECT_NE(error_text([] { parse_fill("normal(sigma=2)", "a.json: self"); }).find("a.json: self: domain \"normal\" has no parameter \"sigma\""),
            std::string::npos);
}

TEST(Fill, ParametersOutsideTheirRangeAreRefused) {
  for (const char* text : {"normal(scale=0)", "normal(scale=-1)", "uniform(low=1)", "uniform(low=-1e308, high=1e308)", "integers(low=0.5)",
                           "integers(low=9)", "integers(low=-4294967296)", "halves(low=8)", "binades(low=9)", "binades_pos(high=1024)",
                           "binades(low=-1023)", "bernoulli(p=1.5)", "bernoulli(p=-0.1)", "distinct(step=0)"}) {
    EXPECT_EQ(fill_error(text), "bad_fill") << text;
  }
  Fill built_in_code{"normal", {{"scale", -1}}, {}};
  EXPECT_EQ(error_name([&] { fill_tensor(built_in_code, DType::f32, {2}, "k"); }), "bad_fill");
}

// Another compiler, standard library or processor must make these very bits.
TEST(Fill, EveryDomainMakesThePinnedBits) {
  const std::pair<const char*, const char*> pinned[] = {
      {"normal", "936179b2ced1ea56b5e9c157918ef337"},
      {"normal(mean=3, scale=30)", "3f434164e4bb468a0839ac50478c2e0f"},
      {"uniform", "b37b37ff2a7fafa717d89f52858eced1"},
      {"uniform(low=-1)", "6dc11a5d988c05bf66ffb15e123e017a"},
      {"binades", "b3e1cedd1bf10969d422ab86c8cb1423"},
      {"binades_pos", "0b76261dd44f12e393846054d0f3364e"},
      {"integers", "0ab90312490920e0b837d22be3d22ce6"},
      {"halves", "d27844baa4a2adeaa436925928b6e4f4"},
      {"distinct(step=0.25)", "561fc6df9013942f93aea6a72b28d342"},
      {"permutation", "4945118718e1cdd7ce4f43e0f06abc53"},
      {"bernoulli", "ce3f5281bb750af351b3935267a60219"},
      {"constant(value=7)", "5b6e3258af4a5f165c17c9d828158ebf"},
      {"spd", "3bd16064e2d23634c002433b1cd76e09"},
      {"lower", "5435b6b3d7c27806d8cff08e820c9cb3"},
      {"well", "0c83b5266a4c74bbc62af69dc1b62784"},
      {"causal", "009d558841709d3b9d9cc5957eeb268d"},
  };
  for (const auto& [text, digits] : pinned) {
    EXPECT_EQ(hex(digest(fill_tensor(parse_fill(text, "spec"), DType::f64, {3, 7, 7}, "op/case/self"))), digits) << text;
  }
}

TEST(Fill, TheDtypeOnlyRounds) {
  for (const char* text : {"normal(scale=30)", "uniform", "binades", "integers", "distinct(step=0.3)", "bernoulli", "spd", "lower"}) {
    const std::vector<double> exact = filled(text, {9, 9});
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::i8}) {
      std::vector<double> rounded = exact;
      for (double& value : rounded) value = round_to(dtype, value);
      EXPECT_EQ(to_doubles(fill_tensor(parse_fill(text, "spec"), dtype, {9, 9}, "op/case/self")), rounded) << text << " " << name(dtype);
    }
  }
}

TEST(Fill, KeysGiveIndependentValuesAndLongerTensorsBeginAlike) {
  const std::vector<double> values = filled("normal", {100}), more = filled("normal", {131}), other = filled("normal", {100}, "op/case/other");
  EXPECT_TRUE(std::equal(values.begin(), values.end(), more.begin()));
  EXPECT_NE(values, other);
  const double product = std::inner_product(values.begin(), values.end(), other.begin(), 0.0) / 100;
  EXPECT_LT(std::fabs(product), 0.4);
}

TEST(Fill, NormalHasTheMomentsOfAnIrwinHallSumOfEight) {
  const std::vector<double> values = filled("normal", {1 << 18});
  double mean = 0, square = 0, cube = 0, fourth = 0;
  for (const double x : values) {
    ASSERT_LT(std::fabs(x), 4.9);
    mean += x, square += x * x, cube += x * x * x, fourth += x * x * x * x;
  }
  const double n = static_cast<double>(values.size());
  EXPECT_NEAR(mean / n, 0, 0.008);  // four standard errors each
  EXPECT_NEAR(square / n, 1, 0.011);
  EXPECT_NEAR(cube / n, 0, 0.03);
  EXPECT_NEAR(fourth / n, 3 - 6.0 / 40, 0.07);
}

TEST(Fill, NormalIsShiftedAndScaled) {
  const std::vector<double> plain = filled("normal", {50}), moved = filled("normal(mean=1000, scale=0.5)", {50});
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_EQ(moved[i], 1000 + 0.5 * plain[i]);
}

void expect_range(const std::string& text, double low, double high, std::size_t distinct) {
  const std::vector<double> values = filled(text, {20'000});
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  EXPECT_GE(*least, low) << text;
  EXPECT_LE(*most, high) << text;
  EXPECT_LE(*least, low + (high - low) * 0.1) << text;
  EXPECT_GE(*most, high - (high - low) * 0.1) << text;
  if (distinct > 0) {
    EXPECT_EQ(std::set<double>(values.begin(), values.end()).size(), distinct) << text;
  }
}

TEST(Fill, EveryDomainFillsItsRange) {
  expect_range("uniform", 0, std::nextafter(1, 0), 0);
  expect_range("uniform(low=-3, high=5)", -3, std::nextafter(5, 0), 0);
  expect_range("integers", -8, 8, 17);
  expect_range("integers(low=5, high=5)", 5, 5, 1);
  expect_range("halves", -7.5, 7.5, 16);
  expect_range("bernoulli", 0, 1, 2);
  expect_range("constant(value=-2)", -2, -2, 1);
  expect_range("binades", -512, 512, 0);
  expect_range("permutation", 0, 19'999, 20'000);
  expect_range("distinct(step=2)", -19'999, 19'999, 20'000);
}

TEST(Fill, BinadesUseEveryExponentAndBothSigns) {
  std::set<int> exponents;
  std::size_t negative = 0;
  for (const double x : filled("binades(low=-3, high=2)", {6'001})) {
    exponents.insert(std::ilogb(x));
    negative += x < 0;
    EXPECT_EQ(x, static_cast<float>(x));
  }
  EXPECT_EQ(exponents, (std::set<int>{-3, -2, -1, 0, 1, 2}));
  EXPECT_NEAR(static_cast<double>(negative), 3'000, 200);
  for (const double x : filled("binades_pos(low=-3, high=2)", {6'001})) EXPECT_GE(x, 0.125);
}

TEST(Fill, BernoulliFollowsItsProbability) {
  const auto share = [](const char* text) {
    const std::vector<double> values = filled(text, {20'000});
    return std::accumulate(values.begin(), values.end(), 0.0) / 20'000;
  };
  EXPECT_NEAR(share("bernoulli(p=0.1)"), 0.1, 0.01);
  EXPECT_EQ(share("bernoulli(p=0)"), 0);
  EXPECT_EQ(share("bernoulli(p=1)"), 1);
}

TEST(Fill, ValuesRepeatAndAnEmptyListIsRefused) {
  Fill fill = parse_fill("values", "spec");
  EXPECT_EQ(error_name([&] { fill_tensor(fill, DType::f32, {2}, "k"); }), "bad_fill");
  fill.values = {1, INFINITY, -2};
  EXPECT_EQ(to_doubles(fill_tensor(fill, DType::f32, {5}, "k")), (std::vector<double>{1, INFINITY, -2, 1, INFINITY}));
}

TEST(Fill, ComplexTensorsFillBothComponents) {
  const Buffer buffer = fill_tensor(parse_fill("normal", "spec"), DType::c128, {4}, "op/case/self");
  EXPECT_EQ(to_doubles(buffer), filled("normal", {8}));
}

}  // namespace
}  // namespace driftgate
