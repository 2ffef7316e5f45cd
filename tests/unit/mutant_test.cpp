#include "compare/mutant.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "compare/comparison.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

using Values = std::vector<double>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Buffer good_of(DType dtype, const Shape& shape, const Values& reference) { return from_doubles(dtype, shape, reference); }

Values mutated(Mutant mutant, DType dtype, const Shape& shape, const Values& reference) {
  const auto result = mutate(mutant, good_of(dtype, shape, reference), reference);
  if (!result) return {};
  EXPECT_EQ(result->dtype, dtype);
  EXPECT_EQ(result->shape, shape);
  return to_doubles(*result);
}

TEST(Mutant, NamesAreDistinctAndEveryMutantIsListed) {
  std::set<std::string_view> names;
  for (const Mutant mutant : all_mutants()) names.insert(name(mutant));
  EXPECT_EQ(names.size(), 13u);
  EXPECT_EQ(name(Mutant::zeros), "zeros");
  EXPECT_EQ(name(Mutant::drop_last_term), "drop_last_term");
}

TEST(Mutant, ThoseThatNeedInputsAreNotMadeHere) {
  const Values r = {1, 2};
  for (const Mutant mutant : {Mutant::tf32_inputs, Mutant::bf16_inputs, Mutant::drop_last_term}) {
    EXPECT_TRUE(needs_inputs(mutant));
    EXPECT_FALSE(mutate(mutant, good_of(DType::f32, {2}, r), r));
  }
  EXPECT_FALSE(needs_inputs(Mutant::zeros));
  EXPECT_FALSE(needs_inputs(Mutant::truncated));
}

TEST(Mutant, ZerosAndTimesTwo) {
  EXPECT_EQ(mutated(Mutant::zeros, DType::f32, {3}, {1, 0, -2}), (Values{0, 0, 0}));
  EXPECT_EQ(mutated(Mutant::times_two, DType::f16, {3}, {1, 0, -2}), (Values{2, 0, -4}));
  EXPECT_EQ(mutated(Mutant::zeros, DType::i64, {2}, {5, 6}), (Values{0, 0}));
  EXPECT_EQ(mutated(Mutant::zeros, DType::f32, {2}, {0, 0}), Values{});
  EXPECT_EQ(mutated(Mutant::times_two, DType::f32, {2}, {0, 0}), Values{});
}

TEST(Mutant, OneWrongTouchesTheMedianMagnitudeAlone) {
  const Values r = {100, 0, -4, 1, kNan, 0};
  const Values bad = mutated(Mutant::one_wrong, DType::f32, {6}, r);
  ASSERT_EQ(bad.size(), 6u);
  EXPECT_EQ(bad[2], static_cast<double>(static_cast<float>(-4 * 1.01)));
  for (const std::size_t i : {0u, 1u, 3u, 5u}) EXPECT_EQ(bad[i], r[i]);
  EXPECT_EQ(mutated(Mutant::one_wrong, DType::f32, {2}, {0, kNan}), Values{});
}

TEST(Mutant, ShiftedRollsByOneElement) {
  EXPECT_EQ(mutated(Mutant::shifted, DType::bf16, {4}, {1, 2, 3, 4}), (Values{4, 1, 2, 3}));
  EXPECT_EQ(mutated(Mutant::shifted, DType::c64, {2}, {1, 2, 3, 4}), (Values{3, 4, 1, 2}));
  EXPECT_EQ(mutated(Mutant::shifted, DType::f32, {3}, {7, 7, 7}), Values{});
  EXPECT_EQ(mutated(Mutant::shifted, DType::f32, {0}, {}), Values{});
}

TEST(Mutant, TransposedReordersTheLastTwoDims) {
  EXPECT_EQ(mutated(Mutant::transposed, DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6}), (Values{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(mutated(Mutant::transposed, DType::f32, {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), (Values{1, 3, 2, 4, 5, 7, 6, 8}));
  EXPECT_EQ(mutated(Mutant::transposed, DType::f32, {2, 2}, {1, 2, 2, 1}), Values{});
  EXPECT_EQ(mutated(Mutant::transposed, DType::f32, {6}, {1, 2, 3, 4, 5, 6}), Values{});
  EXPECT_EQ(mutated(Mutant::transposed, DType::f32, {1, 6}, {1, 2, 3, 4, 5, 6}), Values{});
}

TEST(Mutant, StaleTailRepeatsTheFirstQuarter) {
  EXPECT_EQ(mutated(Mutant::stale_tail, DType::f32, {8}, {1, 2, 3, 4, 5, 6, 7, 8}), (Values{1, 2, 3, 4, 5, 6, 1, 2}));
  EXPECT_EQ(mutated(Mutant::stale_tail, DType::f32, {3}, {1, 2, 3}), Values{});
}

TEST(Mutant, NanToZeroKeepsEverythingElse) {
  EXPECT_EQ(mutated(Mutant::nan_to_zero, DType::f16, {3}, {1, kNan, -2}), (Values{1, 0, -2}));
  EXPECT_EQ(mutated(Mutant::nan_to_zero, DType::f16, {2}, {1, 2}), Values{});
  Buffer large(DType::i64, {1});
  large.bytes[0] = large.bytes[7] = std::byte{1};                            // 2^56 + 1: no double holds it
  EXPECT_FALSE(mutate(Mutant::nan_to_zero, large, Values{0x1p56}));
}

TEST(Mutant, LostBitsRoundsToTwoBitsFewer) {
  EXPECT_EQ(mutated(Mutant::lost_bits, DType::f16, {2}, {1 + 0x1p-10, 1 + 0x1p-8}), (Values{1, 1 + 0x1p-8}));
  EXPECT_EQ(mutated(Mutant::lost_bits, DType::f32, {1}, {1 + 0x1p-23}), (Values{1}));
  EXPECT_EQ(mutated(Mutant::lost_bits, DType::bf16, {1}, {1.5}), Values{});
  EXPECT_EQ(mutated(Mutant::lost_bits, DType::i32, {1}, {3}), Values{});
}

TEST(Mutant, TruncatedGoesTowardZeroInHalvesOnly) {
  EXPECT_EQ(mutated(Mutant::truncated, DType::f16, {2}, {1 + 0x1.8p-11, -1 - 0x1.8p-11}), (Values{1, -1}));
  EXPECT_EQ(mutated(Mutant::truncated, DType::f16, {1}, {65530}), (Values{65504}));
  EXPECT_EQ(mutated(Mutant::truncated, DType::f16, {2}, {1.8 * 0x1p-24, -0.9 * 0x1p-24}), (Values{0x1p-24, 0}));
  EXPECT_EQ(mutated(Mutant::truncated, DType::bf16, {1}, {1 + 0x1.4p-8}), (Values{1}));
  EXPECT_EQ(mutated(Mutant::truncated, DType::f16, {2}, {1 + 0x1p-12, -7}), Values{});
  EXPECT_EQ(mutated(Mutant::truncated, DType::f32, {1}, {1 + 0x1.8p-24}), Values{});
}

TEST(Mutant, EveryAppliedMutantIsSeenByTheComparison) {
  Values r;
  for (int i = 1; i <= 64; ++i) r.push_back(std::sin(i) * 3);
  r[5] = kNan;
  const Values s(64, 1e-9);
  Units units;
  units.sensitivity = s;
  const Buffer good = good_of(DType::f16, {8, 8}, r);
  EXPECT_EQ(compare(DType::f16, good.bytes, r, units, Bound::general).required[3], 0);
  int applied = 0;
  for (const Mutant mutant : all_mutants()) {
    const auto bad = mutate(mutant, good, r);
    if (!bad) continue;
    ++applied;
    EXPECT_GT(compare(DType::f16, bad->bytes, r, units, Bound::general).required[3], 64) << name(mutant);
  }
  EXPECT_EQ(applied, 9);
}

TEST(Mutant, AReferenceOfAnotherLengthIsAnError) {
  const Values r = {1, 2, 3};
  EXPECT_THROW(mutate(Mutant::zeros, good_of(DType::f32, {3}, r), Values{1}), Error);
}

}  // namespace
}  // namespace driftgate
