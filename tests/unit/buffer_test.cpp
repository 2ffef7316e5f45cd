#include "tensor/buffer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "error_name.hpp"

namespace driftgate {
namespace {

constexpr DType kAll[] = {DType::f16, DType::bf16, DType::f32, DType::f64,     DType::i8,  DType::u8,
                          DType::i16, DType::i32,  DType::i64, DType::boolean, DType::c64, DType::c128};
constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

TEST(Buffer, NumelMultipliesTheExtents) {
  EXPECT_EQ(numel({}), 1);
  EXPECT_EQ(numel({2, 3, 4}), 24);
  EXPECT_EQ(numel({5, 0, 7}), 0);
  EXPECT_EQ(numel({kLargest}), kLargest);
}

TEST(Buffer, ImpossibleShapesAreErrors) {
  EXPECT_EQ(error_name([] { numel({2, -1}); }), "bad_shape");
  EXPECT_EQ(error_name([] { numel({kLargest, 2}); }), "bad_shape");
  EXPECT_EQ(error_name([] { numel({std::int64_t{1} << 32, std::int64_t{1} << 32}); }), "bad_shape");
  EXPECT_EQ(error_name([] { Buffer(DType::f64, {kLargest}); }), "bad_shape");
}

TEST(Buffer, StartsAsZerosOfTheRightSize) {
  for (const DType dtype : kAll) {
    const Buffer buffer(dtype, {2, 3});
    EXPECT_EQ(buffer.bytes.size(), 6 * size_of(dtype));
    EXPECT_TRUE(std::all_of(buffer.bytes.begin(), buffer.bytes.end(), [](std::byte b) { return b == std::byte{0}; }));
    EXPECT_EQ(buffer.components(), is_complex(dtype) ? 12 : 6);
  }
}

TEST(Buffer, DoublesSurviveTheWayThereAndBack) {
  for (const DType dtype : kAll) {
    std::vector<double> values = {0, 1, 1, 0};
    if (dtype != DType::boolean) values = {0, 1, 100, 3};
    const Shape shape = is_complex(dtype) ? Shape{2} : Shape{2, 2};
    const Buffer buffer = from_doubles(dtype, shape, values);
    EXPECT_EQ(to_doubles(buffer), values) << name(dtype);
    EXPECT_EQ(buffer.shape, shape);
  }
}

TEST(Buffer, ElementsLieAsTheSingleConversionsWriteThem) {
  const std::vector<double> values = {0.1, -2.7, 1e5};
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::i8, DType::i64, DType::boolean}) {
    const Buffer buffer = from_doubles(dtype, {3}, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::byte* element = buffer.bytes.data() + i * size_of(dtype);
      EXPECT_EQ(decode(dtype, element), round_to(dtype, values[i])) << name(dtype);
    }
  }
}

TEST(Buffer, CountsThatDisagreeAreRefused) {
  EXPECT_THROW(from_doubles(DType::f32, {3}, {1, 2}), std::invalid_argument);
  EXPECT_THROW(from_doubles(DType::c64, {2}, {1, 2}), std::invalid_argument);
  Buffer buffer(DType::f32, {3});
  buffer.bytes.pop_back();
  EXPECT_THROW(to_doubles(buffer), std::invalid_argument);
}

}  // namespace
}  // namespace driftgate
