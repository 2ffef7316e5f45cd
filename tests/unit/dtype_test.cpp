#include "tensor/dtype.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

namespace driftgate {
namespace {

constexpr DType kAll[] = {DType::f16, DType::bf16, DType::f32, DType::f64,     DType::i8,  DType::u8,
                          DType::i16, DType::i32,  DType::i64, DType::boolean, DType::c64, DType::c128};
constexpr DType kHalves[] = {DType::f16, DType::bf16};
constexpr double kInfinity = std::numeric_limits<double>::infinity();

double decoded(DType dtype, std::uint16_t bits) { return decode(dtype, &bits); }

std::uint16_t encoded(DType dtype, double value) {
  std::uint16_t bits = 0xABCD;
  encode(dtype, value, &bits);
  return bits;
}

template <class T>
T encoded_as(DType dtype, double value) {
  T stored{};
  encode(dtype, value, &stored);
  return stored;
}

// What the standard says a pattern means, written another way.
double by_definition(DType dtype, std::uint16_t bits) {
  const FloatFormat& format = float_format(dtype);
  const int fraction_bits = format.precision - 1;
  const int field = (bits & 0x7FFF) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits >> 15 ? -1 : 1;
  if (field == 2 * format.emax + 1) return fraction != 0 ? NAN : sign * kInfinity;
  if (field == 0) return sign * std::ldexp(fraction, format.emin - fraction_bits);
  return sign * std::ldexp((1 << fraction_bits) + fraction, field - format.emax - fraction_bits);
}

TEST(DType, TheUnitRoundoffIsHalfTheGapAboveOne) {
  for (const auto& [dtype, unit] : {std::pair(DType::f16, 0x1p-11), std::pair(DType::bf16, 0x1p-8), std::pair(DType::f32, 0x1p-24)}) {
    EXPECT_EQ(unit_roundoff(dtype), unit);
    EXPECT_EQ(round_to(dtype, 1 + unit), 1);                              // a tie, to even
    EXPECT_EQ(round_to(dtype, 1 + 1.5 * unit), 1 + 2 * unit);
  }
}

TEST(DType, NamesParseBackAndOthersDoNot) {
  for (const DType dtype : kAll) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  for (const char* text : {"", "F32", "float32", "boolean", "f8", "f32 "}) EXPECT_EQ(parse_dtype(text), std::nullopt) << text;
}

TEST(DType, ComponentsOfComplexTypesAreHalfTheSize) {
  EXPECT_EQ(component(DType::c64), DType::f32);
  EXPECT_EQ(component(DType::c128), DType::f64);
  for (const DType dtype : kAll) EXPECT_EQ(size_of(dtype), size_of(component(dtype)) * (is_complex(dtype) ? 2 : 1));
  EXPECT_EQ(decode(DType::c64, std::array<float, 2>{1.5f, 9.0f}.data()), 1.5);
}

TEST(DType, OnlyFloatingTypesHaveAFormat) {
  EXPECT_EQ(float_format(DType::c64).precision, 24);
  EXPECT_TRUE(float_format(DType::bf16).may_flush);
  EXPECT_FALSE(float_format(DType::f16).may_flush);
  EXPECT_THROW(float_format(DType::i32), std::invalid_argument);
}

TEST(DType, EveryHalfPatternDecodesToItsDefinitionAndEncodesBack) {
  for (const DType dtype : kHalves) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const auto pattern = static_cast<std::uint16_t>(bits);
      const double value = decoded(dtype, pattern), expected = by_definition(dtype, pattern);
      if (std::isnan(expected)) {
        ASSERT_TRUE(std::isnan(value) && std::isnan(decoded(dtype, encoded(dtype, value)))) << name(dtype) << " " << bits;
        ASSERT_EQ(std::signbit(value), pattern >> 15 != 0) << bits;
      } else {
        ASSERT_EQ(std::bit_cast<std::uint64_t>(value), std::bit_cast<std::uint64_t>(expected)) << name(dtype) << " " << bits;
        ASSERT_EQ(encoded(dtype, value), pattern) << name(dtype);
      }
    }
  }
}

// Between any two neighbours, the infinity counting as the next power of two.
TEST(DType, EveryMidpointRoundsToEvenAndEveryNeighbourOfItToTheNearest) {
  for (const DType dtype : kHalves) {
    const auto infinity = static_cast<std::uint16_t>(encoded(dtype, kInfinity));
    for (std::uint16_t bits = 0; bits < infinity; ++bits) {
      const auto next = static_cast<std::uint16_t>(bits + 1);
      const double upper = next == infinity ? std::ldexp(1, float_format(dtype).emax + 1) : decoded(dtype, next);
      const double middle = (decoded(dtype, bits) + upper) / 2;
      const std::uint16_t even = bits % 2 == 0 ? bits : next;
      ASSERT_EQ(encoded(dtype, middle), even) << name(dtype) << " " << bits;
      ASSERT_EQ(encoded(dtype, std::nextafter(middle, 0)), bits) << name(dtype);
      ASSERT_EQ(encoded(dtype, std::nextafter(middle, kInfinity)), next) << name(dtype);
      ASSERT_EQ(encoded(dtype, -middle), even | 0x8000) << name(dtype);
    }
  }
}

TEST(DType, RoundingThroughFloatWouldRoundTwice) {
  const double f16_trap = 1 + 0x1p-11 + 0x1p-40, bf16_trap = 1 + 0x1p-8 + 0x1p-40, subnormal_trap = 0x1p-25 + 0x1p-60;
  EXPECT_EQ(round_to(DType::f16, f16_trap), 1 + 0x1p-10);
  EXPECT_EQ(round_to(DType::f16, static_cast<float>(f16_trap)), 1);
  EXPECT_EQ(round_to(DType::bf16, bf16_trap), 1 + 0x1p-7);
  EXPECT_EQ(round_to(DType::bf16, static_cast<float>(bf16_trap)), 1);
  EXPECT_EQ(round_to(DType::f16, subnormal_trap), 0x1p-24);
  EXPECT_EQ(round_to(DType::f16, static_cast<float>(subnormal_trap)), 0);
}

TEST(DType, ValuesBeyondTheFormatBecomeInfinityOrZeroWithTheirSign) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    EXPECT_EQ(round_to(dtype, 1e300), kInfinity);
    EXPECT_EQ(round_to(dtype, -1e300), -kInfinity);
    EXPECT_EQ(round_to(dtype, -kInfinity), -kInfinity);
    EXPECT_TRUE(round_to(dtype, -5e-324) == 0 && std::signbit(round_to(dtype, -5e-324)));
  }
  EXPECT_EQ(round_to(DType::f16, 65519.999), 65504);
  EXPECT_EQ(round_to(DType::f16, 65520), kInfinity);
  EXPECT_EQ(round_to(DType::f64, 5e-324), 5e-324);
  EXPECT_EQ(round_to(DType::f32, 0x1p-149), 0x1p-149);
}

TEST(DType, IntegersRoundToEvenAndSaturate) {
  EXPECT_EQ(encoded_as<std::int8_t>(DType::i8, 2.5), 2);
  EXPECT_EQ(encoded_as<std::int8_t>(DType::i8, 3.5), 4);
  EXPECT_EQ(encoded_as<std::int8_t>(DType::i8, -2.5), -2);
  EXPECT_EQ(encoded_as<std::int8_t>(DType::i8, 127.5), 127);
  EXPECT_EQ(encoded_as<std::int8_t>(DType::i8, -128.5), -128);
  EXPECT_EQ(encoded_as<std::int8_t>(DType::i8, -1e300), -128);
  EXPECT_EQ(encoded_as<std::uint8_t>(DType::u8, -0.5), 0);
  EXPECT_EQ(encoded_as<std::uint8_t>(DType::u8, -3), 0);
  EXPECT_EQ(encoded_as<std::uint8_t>(DType::u8, 255.4), 255);
  EXPECT_EQ(encoded_as<std::int16_t>(DType::i16, 32767.4), 32767);
  EXPECT_EQ(encoded_as<std::int32_t>(DType::i32, kInfinity), std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(encoded_as<std::int32_t>(DType::i32, NAN), 0);
  EXPECT_EQ(encoded_as<std::int64_t>(DType::i64, 0x1p63), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(encoded_as<std::int64_t>(DType::i64, -0x1p63), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(encoded_as<std::int64_t>(DType::i64, 0x1p62 + 0x1p10), (std::int64_t{1} << 62) + 1024);
  EXPECT_EQ(encoded_as<std::int64_t>(DType::i64, 0x1p52 - 0.5), std::int64_t{1} << 52);
}

TEST(DType, BoolIsTrueForAnythingButZero) {
  for (const double value : {1.0, 0.25, -3.0, 5e-324, double{NAN}}) EXPECT_EQ(encoded_as<std::uint8_t>(DType::boolean, value), 1);
  for (const double value : {0.0, -0.0}) EXPECT_EQ(encoded_as<std::uint8_t>(DType::boolean, value), 0);
}

TEST(DType, ElementsNeedNoAlignment) {
  char bytes[9] = {};
  encode(DType::f64, -1.25, bytes + 1);
  EXPECT_EQ(decode(DType::f64, bytes + 1), -1.25);
  EXPECT_EQ(bytes[0], 0);
}

TEST(RoundToBits, AgreesWithTheHalfFormatsInsideTheirRange) {
  for (const DType dtype : kHalves) {
    const int bits = float_format(dtype).precision;
    for (double value = 1; value < 4; value += 0x1.00001p-14) {
      ASSERT_EQ(round_to_bits(value, bits), round_to(dtype, value)) << value;
      ASSERT_EQ(round_to_bits(-value, bits), round_to(dtype, -value)) << value;
    }
  }
}

TEST(RoundToBits, TiesGoToEvenAndTruncationNeverDoes) {
  EXPECT_EQ(round_to_bits(1 + 0x1p-11, 11), 1);
  EXPECT_EQ(round_to_bits(1 + 0x3p-11, 11), 1 + 0x1p-9);
  EXPECT_EQ(round_to_bits(1.5, 1), 2);
  EXPECT_EQ(round_to_bits(2.75, 1), 2);
  EXPECT_EQ(truncate_to_bits(1 + 0x3p-11, 11), 1 + 0x1p-10);
  EXPECT_EQ(truncate_to_bits(-1.999, 1), -1);
  EXPECT_EQ(round_to_bits(0x1.fffffffffffffp+1, 52), 4);
}

TEST(RoundToBits, TheExponentIsUnboundedBelow) {
  EXPECT_EQ(round_to_bits(0x1p-1060 + 0x1p-1070, 11), 0x1p-1060 + 0x1p-1070);
  EXPECT_EQ(round_to_bits(0x1p-1060 + 0x1p-1071, 11), 0x1p-1060);
  EXPECT_EQ(round_to_bits(0x1p-1074, 8), 0x1p-1074);
  EXPECT_EQ(truncate_to_bits(0x1p-1060 + 0x1p-1072, 11), 0x1p-1060);
}

TEST(RoundToBits, LeavesZeroNonFiniteAndShortValuesAlone) {
  EXPECT_TRUE(std::signbit(round_to_bits(-0.0, 8)));
  EXPECT_EQ(round_to_bits(-kInfinity, 8), -kInfinity);
  EXPECT_TRUE(std::isnan(truncate_to_bits(NAN, 8)));
  EXPECT_EQ(round_to_bits(0.1, 53), 0.1);
  EXPECT_THROW(round_to_bits(1.0, 0), std::invalid_argument);
}

}  // namespace
}  // namespace driftgate
