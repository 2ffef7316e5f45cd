#include "tensor/ulp.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <vector>

namespace driftgate {
namespace {

constexpr DType kFormats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

double smallest(DType dtype) { return std::ldexp(1, float_format(dtype).emin - float_format(dtype).precision + 1); }
double smallest_normal(DType dtype) { return std::ldexp(1, float_format(dtype).emin); }
double largest(DType dtype) {
  const FloatFormat& format = float_format(dtype);
  return std::ldexp(2 - std::ldexp(1, 1 - format.precision), format.emax);
}

// Ascending values of one sign from all over the format.
std::vector<double> ladder(DType dtype) {
  std::vector<double> values = {0, smallest(dtype), 2 * smallest(dtype), smallest_normal(dtype) - smallest(dtype), smallest_normal(dtype)};
  for (const double value : {0.001, 0.5, 0.9, 1.0, 1.1, 3.0, 1000.0}) values.push_back(round_to(dtype, value));
  values.push_back(largest(dtype));
  values.push_back(INFINITY);
  return values;
}

TEST(Ulp, AValueIsAtDistanceZeroFromItselfAndFromNothingElse) {
  for (const DType dtype : kFormats) {
    const std::vector<double> values = ladder(dtype);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(ulp_distance(dtype, values[i], values[i]), 0u);
      if (i > 0) {
        EXPECT_GT(ulp_distance(dtype, values[i - 1], values[i]), 0u) << values[i];
      }
    }
  }
}

TEST(Ulp, DistanceIsSymmetric) {
  for (const DType dtype : kFormats) {
    for (const double a : ladder(dtype)) {
      for (const double b : ladder(dtype)) {
        EXPECT_EQ(ulp_distance(dtype, a, b), ulp_distance(dtype, b, a));
        EXPECT_EQ(ulp_distance(dtype, a, -b), ulp_distance(dtype, -b, a));
        EXPECT_EQ(ulp_distance(dtype, a, b), ulp_distance(dtype, -a, -b));
      }
    }
  }
}

TEST(Ulp, ZerosOfEitherSignAreEqual) {
  for (const DType dtype : kFormats) EXPECT_EQ(ulp_distance(dtype, 0.0, -0.0), 0u);
}

TEST(Ulp, NanEqualsNanAndIsInfinitelyFarFromAnyNumber) {
  for (const DType dtype : kFormats) {
    EXPECT_EQ(ulp_distance(dtype, NAN, -NAN), 0u);
    for (const double value : ladder(dtype)) {
      EXPECT_EQ(ulp_distance(dtype, NAN, value), kUlpInfinite);
      EXPECT_EQ(ulp_distance(dtype, -value, NAN), kUlpInfinite);
    }
  }
}

TEST(Ulp, NeighboursAreAtDistanceOne) {
  for (const DType dtype : kFormats) {
    const int precision = float_format(dtype).precision;
    const double above_one = 1 + std::ldexp(1, 1 - precision), below_one = 1 - std::ldexp(1, -precision);
    EXPECT_EQ(ulp_distance(dtype, 1, above_one), 1u);
    EXPECT_EQ(ulp_distance(dtype, below_one, 1), 1u);
    EXPECT_EQ(ulp_distance(dtype, below_one, above_one), 2u);
    EXPECT_EQ(ulp_distance(dtype, 0, smallest(dtype)), 1u);
    EXPECT_EQ(ulp_distance(dtype, smallest_normal(dtype) - smallest(dtype), smallest_normal(dtype)), 1u);
  }
}

TEST(Ulp, DistanceCountsRepresentableValues) {
  EXPECT_EQ(ulp_distance(DType::f16, 1, 2), 1024u);
  EXPECT_EQ(ulp_distance(DType::bf16, 1, 4), 256u);
  EXPECT_EQ(ulp_distance(DType::f32, 0, 1), 0x3F800000u);
  EXPECT_EQ(ulp_distance(DType::f64, 1, 2), std::uint64_t{1} << 52);
}

TEST(Ulp, OppositeSignsAddTheirDistancesToZero) {
  for (const DType dtype : kFormats) {
    for (const double a : ladder(dtype)) {
      for (const double b : ladder(dtype)) {
        EXPECT_EQ(ulp_distance(dtype, a, -b), ulp_distance(dtype, a, 0) + ulp_distance(dtype, 0, b));
      }
    }
    EXPECT_EQ(ulp_distance(dtype, smallest(dtype), -smallest(dtype)), 2u);
  }
}

TEST(Ulp, TheLargestFiniteValueAndInfinityAreNeighbours) {
  for (const DType dtype : kFormats) EXPECT_EQ(ulp_distance(dtype, largest(dtype), INFINITY), 1u);
  EXPECT_LT(ulp_distance(DType::f64, INFINITY, -INFINITY), kUlpInfinite);
}

TEST(Ulp, DistanceIsAdditiveBetweenValuesOfOneSign) {
  for (const DType dtype : kFormats) {
    const std::vector<double> values = ladder(dtype);
    for (std::size_t a = 0; a < values.size(); ++a) {
      for (std::size_t b = a; b < values.size(); ++b) {
        for (std::size_t c = b; c < values.size(); ++c) {
          EXPECT_EQ(ulp_distance(dtype, values[a], values[c]), ulp_distance(dtype, values[a], values[b]) + ulp_distance(dtype, values[b], values[c]));
        }
      }
    }
  }
}

TEST(Ulp, OtherValuesAreRoundedToTheFormatFirst) {
  EXPECT_EQ(ulp_distance(DType::f16, 1, 1 + 0x1p-11), 0u);
  EXPECT_EQ(ulp_distance(DType::f16, 1, 1 + 0x1.8p-11), 1u);
  EXPECT_EQ(ulp_distance(DType::f16, 1e9, INFINITY), 0u);
}

TEST(Ulp, IntegersHaveNoUlp) { EXPECT_THROW(ulp_distance(DType::i32, 1, 2), std::invalid_argument); }

}  // namespace
}  // namespace driftgate
