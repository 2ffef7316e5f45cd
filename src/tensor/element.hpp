#pragma once
// One small type an element type, for loops that convert many elements: `Stored` is what memory holds, `decode` and
// `encode` follow the laws of tensor/dtype.hpp. `with_element(dtype, f)` calls f with the type of a real component.
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

#include "tensor/dtype.hpp"

namespace driftgate {

static_assert(std::endian::native == std::endian::little, "tensors are stored little-endian");

// The 16-bit formats: kFraction stored bits below an exponent with kBias.
template <int kFraction, int kBias>
struct HalfElement {
  using Stored = std::uint16_t;
  static constexpr int kShift = 52 - kFraction;
  static constexpr Stored kFractionMask = (1 << kFraction) - 1;
  static constexpr int kTop = 2 * kBias + 1;  // the exponent field of infinity and NaN

  static constexpr double power_of_two(int exponent) { return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52); }

  static double decode(Stored stored) {
    const std::uint64_t sign = static_cast<std::uint64_t>(stored >> 15) << 63;
    const std::uint64_t fraction = stored & kFractionMask;
    const int exponent = (stored >> kFraction) & kTop;
    if (exponent == 0) {
      const double magnitude = static_cast<double>(fraction) * power_of_two(1 - kBias - kFraction);
      return std::bit_cast<double>(sign | std::bit_cast<std::uint64_t>(magnitude));
    }
    const std::uint64_t wide = exponent == kTop ? 2047 : static_cast<std::uint64_t>(exponent - kBias + 1023);
    return std::bit_cast<double>(sign | wide << 52 | fraction << kShift);
  }

  static Stored encode(double value) {
    constexpr std::uint64_t infinity = static_cast<std::uint64_t>(kTop) << kFraction;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(value);
    const std::uint64_t sign = bits >> 63 << 15;
    const std::uint64_t magnitude = bits & ~(std::uint64_t{1} << 63);
    if (value != value) {
      constexpr std::uint64_t quiet = std::uint64_t{1} << (kFraction - 1);
      return static_cast<Stored>(sign | infinity | quiet | ((magnitude >> kShift) & kFractionMask));
    }
    // Both roads are computed and one is taken: zeros among other numbers would defeat a branch.
    const std::uint64_t nearest = magnitude + (std::uint64_t{1} << (kShift - 1)) - 1 + ((magnitude >> kShift) & 1);
    const std::uint64_t rebased = (nearest >> kShift) - (static_cast<std::uint64_t>(1023 - kBias) << kFraction);
    const std::uint64_t normal = rebased < infinity ? rebased : infinity;
    // Beside this number one unit of a double is one subnormal step, so the sum is the rounding.
    constexpr double magic = power_of_two(1 - kBias - kFraction + 52);
    const double sum = std::bit_cast<double>(magnitude) + magic;
    const std::uint64_t subnormal = std::bit_cast<std::uint64_t>(sum) - std::bit_cast<std::uint64_t>(magic);
    constexpr std::uint64_t smallest_normal = static_cast<std::uint64_t>(1 - kBias + 1023) << 52;
    return static_cast<Stored>(sign | (magnitude < smallest_normal ? subnormal : normal));
  }
};
using F16Element = HalfElement<10, 15>;
using Bf16Element = HalfElement<7, 127>;

template <class T>
struct NativeElement {  // float and double
  using Stored = T;
  static double decode(T stored) { return static_cast<double>(stored); }
  static T encode(double value) { return static_cast<T>(value); }
};

template <class T>
struct IntegerElement {
  using Stored = T;
  static double decode(T stored) { return static_cast<double>(stored); }
  static T encode(double value) {
    using Limits = std::numeric_limits<T>;
    constexpr double above = 2.0 * static_cast<double>(std::uint64_t{1} << (Limits::digits - 1));
    const double magnitude = std::fabs(value);
    const double whole = magnitude < 0x1p52 ? std::copysign((magnitude + 0x1p52) - 0x1p52, value) : value;
    if (whole >= above) return Limits::max();
    if (whole < static_cast<double>(Limits::min())) return Limits::min();
    return whole == whole ? static_cast<T>(whole) : T{0};
  }
};

struct BooleanElement {
  using Stored = std::uint8_t;
  static double decode(Stored stored) { return stored != 0 ? 1.0 : 0.0; }
  static Stored encode(double value) { return value != 0 ? 1 : 0; }
};

template <class Visit>
decltype(auto) with_element(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::f16:
      return visit(F16Element{});
    case DType::bf16:
      return visit(Bf16Element{});
    case DType::f32:
    case DType::c64:
      return visit(NativeElement<float>{});
    case DType::f64:
    case DType::c128:
      break;
    case DType::i8:
      return visit(IntegerElement<std::int8_t>{});
    case DType::u8:
      return visit(IntegerElement<std::uint8_t>{});
    case DType::i16:
      return visit(IntegerElement<std::int16_t>{});
    case DType::i32:
      return visit(IntegerElement<std::int32_t>{});
    case DType::i64:
      return visit(IntegerElement<std::int64_t>{});
    case DType::boolean:
      return visit(BooleanElement{});
  }
  return visit(NativeElement<double>{});
}

// Memory need not be aligned.
template <class Element>
double load(const void* element) {
  typename Element::Stored stored;
  std::memcpy(&stored, element, sizeof stored);
  return Element::decode(stored);
}

template <class Element>
void store(double value, void* element) {
  const typename Element::Stored stored = Element::encode(value);
  std::memcpy(element, &stored, sizeof stored);
}

}  // namespace driftgate
