#include "compare/levels.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "error_name.hpp"

namespace driftgate {
namespace {

using Levels = std::vector<std::byte>;

Levels ramp() {
  Levels levels(200);
  for (std::size_t i = 0; i < levels.size(); ++i) levels[i] = static_cast<std::byte>(i + 20);
  return levels;
}

double required(const Levels& a, const Levels& b) { return compare_levels(a, b).required[static_cast<std::size_t>(Bound::levels)]; }

Levels moved(std::size_t count, int by) {
  Levels levels = ramp();
  for (std::size_t i = 0; i < count; ++i) levels[7 * i % levels.size()] = static_cast<std::byte>(static_cast<int>(levels[7 * i % levels.size()]) + by);
  return levels;
}

TEST(Levels, EqualPicturesNeedNothing) {
  EXPECT_EQ(required(ramp(), ramp()), 0);
  EXPECT_EQ(compare_levels(ramp(), ramp()).worst, -1);
}

TEST(Levels, OneLevelCountsByItsShare) {
  EXPECT_EQ(required(moved(1, 1), ramp()), 0.005);
  EXPECT_EQ(required(moved(20, -1), ramp()), 0.1);
  EXPECT_EQ(required(moved(200, 1), ramp()), 1);
}

TEST(Levels, MoreThanOneLevelCountsByItsSize) {
  EXPECT_EQ(required(moved(1, 2), ramp()), 2);
  EXPECT_EQ(required(moved(1, -9), ramp()), 9);
  const Comparison comparison = compare_levels(moved(1, -9), ramp());
  EXPECT_EQ(comparison.worst, 0);
  EXPECT_EQ(comparison.worst_got, 11);
  EXPECT_EQ(comparison.worst_want, 20);
  EXPECT_EQ(comparison.differing, 1);
}

TEST(Levels, ZerosAreFarFromAPictureButNotFromABlackOne) {
  EXPECT_EQ(compare_levels(ramp(), ramp()).zeros_required, 219);
  EXPECT_EQ(compare_levels(Levels(9), Levels(9)).zeros_required, 0);
}

TEST(Levels, PicturesOfTwoSizesAreNotCompared) { EXPECT_EQ(error_name([] { compare_levels(Levels(9), Levels(8)); }), "bad_length"); }

}  // namespace
}  // namespace driftgate
