// Hand-made values for each rule of compare/comparison.hpp, each beside its opposite.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "compare/comparison.hpp"
#include "error.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kExact = 0, kPointwise = 1, kLinear = 2, kGeneral = 3;
using Values = std::vector<double>;

Comparison compare_values(DType dtype, const Values& candidate, const Values& reference, const Units& units,
                          Bound chosen = Bound::pointwise, int threads = 1) {
  return compare(dtype, from_doubles(dtype, {static_cast<std::int64_t>(candidate.size())}, candidate).bytes, reference, units,
                 chosen, threads);
}

Comparison one(DType dtype, double candidate, double reference, double sensitivity = 0x1p-24) {
  const Values s = {sensitivity};
  Units units;
  units.sensitivity = s;
  return compare_values(dtype, {candidate}, {reference}, units);
}

double pointwise(DType dtype, double candidate, double reference, double sensitivity = 0x1p-24) {
  return one(dtype, candidate, reference, sensitivity).required[kPointwise];
}

// Of the bounds that compare elements; the statistical one is filled elsewhere.
std::vector<double> families(const Comparison& c) { return {c.required.begin(), c.required.begin() + 4}; }

Comparison exactly(double candidate, double reference) { return compare_values(DType::f32, {candidate}, {reference}, {}, Bound::exact); }

TEST(ComparisonRules, AnErrorOfHalfAnUlpIsFree) {
  EXPECT_EQ(pointwise(DType::f32, 1, 1 + 0x1p-24), 0);
  EXPECT_EQ(pointwise(DType::f16, 1, 1 + 0x1p-11), 0);
  EXPECT_EQ(pointwise(DType::bf16, 1, 1 + 0x1p-8), 0);
  EXPECT_GT(pointwise(DType::f32, 1, 1 + 0x1p-23), 0.4);
  EXPECT_GT(pointwise(DType::f16, 1, 1 + 0x1p-10), 1000);
}

TEST(ComparisonRules, TheHalfUlpIsThatOfTheReferencesBinade) {
  EXPECT_EQ(pointwise(DType::f32, 2, 2 + 0x1p-23), 0);
  EXPECT_GT(pointwise(DType::f32, 2 - 0x1p-22, 2 - 0x1p-23 - 0x1p-40, 0), 0);
}

TEST(ComparisonRules, PointwiseIsExcessOverSensitivityAndRounding) {
  const double excess = 0x1p-20 - (0x1p-24 + 0x1p-150 + 0x1p-126);
  EXPECT_DOUBLE_EQ(pointwise(DType::f32, 1 + 0x1p-20, 1, 3 * 0x1p-24), excess / (std::sqrt(10.0) * 0x1p-24));
}

TEST(ComparisonRules, FlushedSubnormalsAreFreeOnlyWhereTheFormatMayFlush) {
  EXPECT_EQ(pointwise(DType::f32, 0, 0x1p-127, 0), 0);
  EXPECT_EQ(pointwise(DType::bf16, 0, 0x1p-127, 0), 0);
  EXPECT_GT(pointwise(DType::f16, 0, 0x1p-15, 0), 0);
  EXPECT_GT(pointwise(DType::f32, 0, 0x1p-125, 0), 0);
}

TEST(ComparisonRules, OneSubnormalStepIsFreeInHalf) {
  EXPECT_EQ(pointwise(DType::f16, 0x1p-24, 0, 0), 0);
  EXPECT_EQ(pointwise(DType::f16, 0x1p-23, 0, 0), kInf);
}

TEST(ComparisonRules, NanNeverPasses) {
  const Values s = {1, 1}, q = {1, 1};
  Units units;
  units.sensitivity = s;
  units.squares = q;
  units.terms_scalar = 4;
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    for (const auto& [c, r] : {std::pair{kNan, 1.0}, {1.0, kNan}, {kInf, kNan}, {kNan, -kInf}, {0.0, kNan}}) {
      const Comparison wrong = compare_values(dtype, {1, c}, {1, r}, units);
      for (const double required : families(wrong)) EXPECT_EQ(required, kInf);
      EXPECT_EQ(wrong.nonfinite_mismatch, 1);
      EXPECT_EQ(wrong.worst, 1);
      EXPECT_EQ(wrong.ulp_histogram[kUlpBins - 1], 1);
    }
    const Comparison right = compare_values(dtype, {1, -kNan}, {1, kNan}, units);
    for (const double required : families(right)) EXPECT_EQ(required, 0);
    EXPECT_EQ(right.zeros_required, kInf);
    EXPECT_EQ(right.differing, 0);
  }
}

TEST(ComparisonRules, InfinityCountsAsTheNextPowerOfTwo) {
  EXPECT_EQ(pointwise(DType::f16, kInf, 65536), 0);
  EXPECT_EQ(pointwise(DType::f16, kInf, 1e9), 0);
  EXPECT_EQ(pointwise(DType::f16, -kInf, -kInf), 0);
  EXPECT_EQ(pointwise(DType::f16, 65504, kInf), 0);                          // half an ULP at 2^16 is 32
  EXPECT_EQ(pointwise(DType::f16, kInf, 65520), pointwise(DType::f16, kInf, 65520.0));
  EXPECT_GT(pointwise(DType::f16, 65472, kInf), 1000);
  EXPECT_GT(pointwise(DType::f16, kInf, 60000), 1000);
  EXPECT_GT(pointwise(DType::f32, kInf, -kInf), 1e6);
  EXPECT_EQ(pointwise(DType::f32, kInf, 1e39), 0);
  EXPECT_GT(pointwise(DType::f32, 1, 1e39), 1e6);
  EXPECT_EQ(pointwise(DType::f64, kInf, kInf), 0);
  EXPECT_EQ(pointwise(DType::f64, kInf, 1), kInf);
}

TEST(ComparisonRules, AnInfiniteReferenceDoesNotLoosenItsNeighbours) {
  const Values s = {1e-8, 1e-8}, r = {kInf, 1};
  Units units;
  units.sensitivity = s;
  EXPECT_EQ(compare_values(DType::f32, {kInf, 1}, r, units).required[kGeneral], 0);
  EXPECT_GT(compare_values(DType::f32, {kInf, 1.001}, r, units).required[kGeneral], 1e3);
}

TEST(ComparisonRules, ExcessOverAUnitThatMeasuresNothingIsInfinite) {
  for (const double s : {0.0, kNan, kInf}) {
    EXPECT_EQ(pointwise(DType::f32, 1e-3, 0, s), kInf);
    EXPECT_EQ(pointwise(DType::f32, 0, 0, s), 0);
  }
  const Values q = {-9};
  Units units;
  units.squares = q;
  units.terms_scalar = 1;
  EXPECT_EQ(compare_values(DType::f32, {1.5}, {1}, units).required[kLinear], kInf);
  EXPECT_EQ(compare_values(DType::f32, {1}, {1}, units).required[kLinear], 0);
}

TEST(ComparisonRules, AnAllowanceIsAddedAndAForeignOneIsNot) {
  const Values s = {0x1p-24};
  for (const double allowance : {0.5, 0.25, kInf, kNan, -1.0}) {
    const Values allowances = {allowance};
    Units units;
    units.sensitivity = s;
    units.allowance = allowances;
    EXPECT_EQ(compare_values(DType::f32, {1.5}, {1}, units).required[kPointwise] == 0, allowance == 0.5) << allowance;
  }
}

TEST(ComparisonRules, TermsMayBeScalarOrAnElementAndCountAsOneAtLeast) {
  const Values q = {3, 3}, r = {1, 1}, four = {4, 4}, less = {0.1, 0.1};
  const auto linear = [&](const Values& terms, double scalar) {
    Units units;
    units.squares = q;
    units.terms = terms;
    units.terms_scalar = scalar;
    return compare_values(DType::f32, {1, 1.001}, r, units).required[kLinear];
  };
  EXPECT_NEAR(linear({}, 1), 0.001 / (2 * 0x1p-24), 2);
  EXPECT_DOUBLE_EQ(linear(four, 0), linear({}, 1) / 2);
  EXPECT_EQ(linear(four, 0), linear({}, 4));
  EXPECT_EQ(linear(less, 0), linear({}, 1));
  EXPECT_EQ(linear({}, 0.1), linear({}, 1));
}

TEST(ComparisonRules, AFamilyWithoutItsIngredientsIsAbsent) {
  const Values q = {1};
  Units none, squares_only;
  squares_only.squares = q;
  for (const Units& units : {none, squares_only}) {
    const Comparison result = compare_values(DType::f32, {1}, {1}, units);
    for (const std::size_t family : {kPointwise, kLinear, kGeneral}) {
      EXPECT_TRUE(std::isnan(result.required[family]));
      EXPECT_FALSE(result.required[family] <= kInf);
    }
    EXPECT_EQ(result.required[kExact], 0);
    EXPECT_TRUE(std::isnan(result.p999) && std::isnan(result.zeros_required));
  }
  EXPECT_FALSE(std::isnan(one(DType::f32, 1, 1).required[kPointwise]));
}

TEST(ComparisonRules, ZerosPassOnlyWhereTheReferenceIsSmall) {
  EXPECT_EQ(one(DType::f32, 1, 1e-45).zeros_required, 0);
  EXPECT_GT(one(DType::f32, 1, 1).zeros_required, 1e6);
  EXPECT_EQ(exactly(1, 1).zeros_required, 1);
  EXPECT_EQ(exactly(1, 0).zeros_required, 0);
}

TEST(ComparisonRules, TheSignOfZeroCountsWhereAsked) {
  Units units;
  EXPECT_EQ(compare_values(DType::f16, {-0.0, 1}, {0.0, 1}, units, Bound::exact).differing, 0);
  units.signed_zero = true;
  const Comparison strict = compare_values(DType::f16, {1, -0.0}, {1, 0.0}, units, Bound::exact);
  EXPECT_EQ(strict.required[kExact], 1);
  EXPECT_EQ(strict.worst, 1);
  EXPECT_EQ(strict.ulp_histogram[0], 2);
  EXPECT_EQ(compare_values(DType::f16, {-0.0}, {-0.0}, units, Bound::exact).differing, 0);
}

TEST(ComparisonRules, ThreadsAndTheirNumberDoNotChangeABit) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> normal;
  Values r, c, s, q;
  for (int i = 0; i < 100'003; ++i) {
    r.push_back(i % 9973 == 5 ? kInf : normal(random));
    c.push_back(i % 9973 == 5 && i % 2 ? kNan : r.back() * (1 + 0x1p-23 * normal(random)));
    s.push_back(0x1p-24 * std::fabs(normal(random)));
    q.push_back(std::fabs(normal(random)));
  }
  Units units;
  units.sensitivity = s;
  units.squares = q;
  units.terms_scalar = 7;
  for (const bool nan : {true, false}) {
    if (!nan) std::replace_if(c.begin(), c.end(), [](double x) { return std::isnan(x); }, kInf);
    const auto same = [](const Comparison& a, const Comparison& b) { return std::memcmp(&a, &b, sizeof a) == 0; };
    const Comparison first = compare_values(DType::f32, c, r, units, Bound::general, 1);
    for (const int threads : {2, 3, 64}) {
      EXPECT_TRUE(same(first, compare_values(DType::f32, c, r, units, Bound::general, threads))) << threads;
    }
    Values other = c;
    other[77'777] += 1;
    EXPECT_FALSE(same(first, compare_values(DType::f32, other, r, units, Bound::general, 2)));
  }
}

TEST(ComparisonRules, TheOrderOfElementsDoesNotChangeTheResult) {
  std::mt19937_64 random(11);
  std::normal_distribution<double> normal;
  struct Row { double c, r, s; };
  std::vector<Row> rows;
  for (int i = 0; i < 4000; ++i) {
    const double r = normal(random);
    rows.push_back({i == 3 ? kInf : r * (1 + 0x1p-22 * normal(random)), i == 3 ? kInf : r, 0x1p-24 * std::fabs(r)});
  }
  const auto measure = [&] {
    Values c, r, s;
    for (const Row& row : rows) c.push_back(row.c), r.push_back(row.r), s.push_back(row.s);
    Units units;
    units.sensitivity = s;
    return compare_values(DType::f32, c, r, units);
  };
  const Comparison before = measure();
  std::shuffle(rows.begin(), rows.end(), random);
  const Comparison after = measure();
  EXPECT_EQ(before.required[kPointwise], after.required[kPointwise]);
  EXPECT_EQ(before.zeros_required, after.zeros_required);
  EXPECT_EQ(before.p999, after.p999);
  EXPECT_EQ(before.max_error, after.max_error);
  EXPECT_EQ(before.ulp_histogram, after.ulp_histogram);
  EXPECT_DOUBLE_EQ(before.required[kGeneral], after.required[kGeneral]);
  rows[9].c *= 1.5;
  EXPECT_NE(measure().required[kPointwise], before.required[kPointwise]);
}

TEST(ComparisonRules, ComplexIsComparedByComponents) {
  const Values r = {1, 2, 3, 4}, s(4, 1e-8);
  Buffer good = from_doubles(DType::c64, {2}, r);
  Units units;
  units.sensitivity = s;
  EXPECT_EQ(compare(DType::c64, good.bytes, r, units, Bound::pointwise).required[kPointwise], 0);
  encode(DType::f32, 3.5, good.bytes.data() + 8);
  const Comparison bad = compare(DType::c64, good.bytes, r, units, Bound::pointwise);
  EXPECT_EQ(bad.worst, 2);
  EXPECT_EQ(bad.worst_got, 3.5);
  EXPECT_EQ(bad.worst_want, 3);
}

TEST(ComparisonRules, NoElementsNeedNothingAndWrongLengthsAreErrors) {
  const Comparison empty = compare_values(DType::f32, {}, {}, {});
  EXPECT_EQ(empty.count, 0);
  for (const double required : empty.required) EXPECT_EQ(required, 0);
  const Values s = {1, 2, 3};
  Units units;
  units.sensitivity = s;
  EXPECT_THROW(compare_values(DType::f32, {1, 2}, {1, 2}, units), Error);
  EXPECT_THROW(compare_values(DType::f32, {1, 2}, {1}, {}), Error);
}

TEST(ComparisonRules, IntegersAreComparedByBits) {
  const Buffer want = from_doubles(DType::i32, {4}, {0, -1, 7, 0}), got = from_doubles(DType::i32, {4}, {0, -1, 8, 1});
  const Comparison bad = compare_integers(DType::i32, got.bytes, want.bytes);
  EXPECT_EQ(bad.required[kExact], 2);
  EXPECT_EQ(bad.zeros_required, 2);
  EXPECT_EQ(bad.worst, 2);
  EXPECT_EQ(bad.worst_got, 8);
  EXPECT_TRUE(std::isnan(bad.required[kLinear]));
  EXPECT_EQ(compare_integers(DType::i32, want.bytes, want.bytes).required[kExact], 0);
  EXPECT_THROW(compare_integers(DType::i64, want.bytes, got.bytes.empty() ? want.bytes : std::span(got.bytes).first(8)), Error);
}

}  // namespace
}  // namespace driftgate
