// The domains of case/fill.hpp that work on the last two dims, and the signs of the perturbed references.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "case/fill.hpp"
#include "error_name.hpp"

namespace driftgate {
namespace {

constexpr std::size_t kBatch = 3, kSize = 17;

std::vector<double> filled(const std::string& text, const Shape& shape) {
  return to_doubles(fill_tensor(parse_fill(text, "spec"), DType::f64, shape, "op/case/self"));
}

std::vector<double> matrices(const std::string& text) { return filled(text, {kBatch, kSize, kSize}); }

// Visits (matrix, row, column, value).
template <class Visit>
void each(const std::vector<double>& values, Visit visit) {
  for (std::size_t i = 0; i < values.size(); ++i) visit(i / (kSize * kSize), i / kSize % kSize, i % kSize, values[i]);
}

TEST(FillMatrix, SpdIsExactlySymmetricAndCholeskyFindsPositivePivots) {
  const std::vector<double> values = matrices("spd");
  for (std::size_t first = 0; first < values.size(); first += kSize * kSize) {
    std::vector<double> a(values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(first + kSize * kSize));
    for (std::size_t i = 0; i < kSize; ++i) {
      for (std::size_t j = 0; j < kSize; ++j) EXPECT_EQ(a[i * kSize + j], a[j * kSize + i]);
    }
    for (std::size_t k = 0; k < kSize; ++k) {  // pivots of A = B·Bᵀ/n + I are at least 1
      ASSERT_GE(a[k * kSize + k], 1 - 1e-12);
      for (std::size_t i = k + 1; i < kSize; ++i) {
        const double factor = a[i * kSize + k] / a[k * kSize + k];
        for (std::size_t j = k; j < kSize; ++j) a[i * kSize + j] -= factor * a[k * kSize + j];
      }
    }
  }
}

TEST(FillMatrix, TheMatricesOfABatchDiffer) {
  for (const char* text : {"spd", "lower", "well"}) {
    const std::vector<double> values = matrices(text);
    const std::ptrdiff_t size = kSize * kSize;
    EXPECT_NE(std::vector<double>(values.begin(), values.begin() + size), std::vector<double>(values.begin() + size, values.begin() + 2 * size));
  }
}

TEST(FillMatrix, LowerIsTriangularWithADiagonalBetweenOneAndTwo) {
  each(matrices("lower"), [](std::size_t, std::size_t row, std::size_t column, double value) {
    const bool right = column > row ? value == 0 : column == row ? value >= 1 && value < 2 : value != 0 && std::fabs(value) <= 0.125;
    EXPECT_TRUE(right) << row << " " << column << ": " << value;
  });
}

TEST(FillMatrix, WellIsThreeTimesTheIdentityPlusASmallPart) {
  each(matrices("well"), [](std::size_t, std::size_t row, std::size_t column, double value) {
    EXPECT_LE(std::fabs(value - (row == column ? 3 : 0)), 0.125);
    EXPECT_NE(value, row == column ? 3 : 0);
  });
}

TEST(FillMatrix, CausalAllowsColumnsUpToTheRow) {
  const Buffer mask = fill_tensor(parse_fill("causal", "spec"), DType::boolean, {2, 2, 3}, "k");
  EXPECT_EQ(to_doubles(mask), (std::vector<double>{1, 0, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0}));
}

TEST(FillMatrix, ShapesThatHoldNoMatrixAreRefused) {
  for (const char* text : {"spd", "lower", "well"}) {
    EXPECT_EQ(error_name([&] { filled(text, {4}); }), "bad_fill") << text;
    EXPECT_EQ(error_name([&] { filled(text, {4, 5}); }), "bad_fill") << text;
    EXPECT_EQ(error_name([&] { fill_tensor(parse_fill(text, "s"), DType::c64, {4, 4}, "k"); }), "bad_fill") << text;
    EXPECT_EQ(filled(text, {2, 0, 0}).size(), 0u);
  }
  EXPECT_EQ(error_name([] { filled("causal", {4}); }), "bad_fill");
  EXPECT_EQ(filled("causal", {4, 5}).size(), 20u);
}

TEST(RandomSigns, ArePlusOrMinusOneInBalance) {
  const std::vector<double> signs = random_signs("op/case/self", 0, 10'007);
  for (const double sign : signs) ASSERT_TRUE(sign == 1 || sign == -1);
  EXPECT_LT(std::fabs(std::accumulate(signs.begin(), signs.end(), 0.0)), 400);
}

TEST(RandomSigns, StreamsAndKeysAreIndependent) {
  const std::vector<double> signs = random_signs("a", 0, 4'096);
  EXPECT_EQ(random_signs("a", 0, 4'096), signs);
  for (const std::vector<double>& other : {random_signs("a", 1, 4'096), random_signs("b", 0, 4'096)}) {
    EXPECT_LT(std::fabs(std::inner_product(signs.begin(), signs.end(), other.begin(), 0.0)), 256);
  }
}

}  // namespace
}  // namespace driftgate
