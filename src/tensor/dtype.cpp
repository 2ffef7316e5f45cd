#include "tensor/dtype.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <string>

#include "tensor/element.hpp"

namespace driftgate {
namespace {

struct Entry {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

constexpr std::array<Entry, 12> kTypes = {{{DType::f16, "f16", 2},
                                           {DType::bf16, "bf16", 2},
                                           {DType::f32, "f32", 4},
                                           {DType::f64, "f64", 8},
                                           {DType::i8, "i8", 1},
                                           {DType::u8, "u8", 1},
                                           {DType::i16, "i16", 2},
                                           {DType::i32, "i32", 4},
                                           {DType::i64, "i64", 8},
                                           {DType::boolean, "bool", 1},
                                           {DType::c64, "c64", 8},
                                           {DType::c128, "c128", 16}}};

const Entry& entry(DType dtype) { return kTypes[static_cast<std::size_t>(dtype)]; }

// Applies `rounding` to a double whose leading bit is explicit: subnormal doubles are scaled up and back, which is exact.
template <class Rounding>
double with_normal(double value, int bits, Rounding rounding) {
  if (bits < 1) throw std::invalid_argument("rounding to fewer than one bit");
  if (bits >= 53 || value == 0 || !std::isfinite(value)) return value;
  if (std::fabs(value) < 0x1p-1022) return rounding(value * 0x1p54) * 0x1p-54;
  return rounding(value);
}

}  // namespace

std::string_view name(DType dtype) { return entry(dtype).name; }

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Entry& type : kTypes) {
    if (type.name == name) return type.dtype;
  }
  return std::nullopt;
}

std::size_t size_of(DType dtype) { return entry(dtype).size; }

bool is_float(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16 || dtype == DType::f32 || dtype == DType::f64; }

bool is_complex(DType dtype) { return dtype == DType::c64 || dtype == DType::c128; }

DType component(DType dtype) {
  if (dtype == DType::c64) return DType::f32;
  return dtype == DType::c128 ? DType::f64 : dtype;
}

const FloatFormat& float_format(DType dtype) {
  static constexpr FloatFormat kF16{11, -14, 15, false}, kBf16{8, -126, 127, true}, kF32{24, -126, 127, true}, kF64{53, -1022, 1023, false};
  switch (component(dtype)) {
    case DType::f16:
      return kF16;
    case DType::bf16:
      return kBf16;
    case DType::f32:
      return kF32;
    case DType::f64:
      return kF64;
    default:
      throw std::invalid_argument(std::string(name(dtype)) + " is not a floating-point type");
  }
}

double unit_roundoff(DType dtype) { return std::ldexp(1.0, -float_format(dtype).precision); }

double decode(DType dtype, const void* element) {
  return with_element(dtype, [&](auto type) { return load<decltype(type)>(element); });
}

void encode(DType dtype, double value, void* element) {
  with_element(dtype, [&](auto type) { store<decltype(type)>(value, element); });
}

double round_to_bits(double value, int bits) {
  return with_normal(value, bits, [&](double normal) {
    const int dropped = 53 - bits;
    const std::uint64_t pattern = std::bit_cast<std::uint64_t>(normal);
    const std::uint64_t odd = bits == 1 ? 1 : (pattern >> dropped) & 1;  // one bit: the implicit one, always odd
    const std::uint64_t nearest = pattern + (std::uint64_t{1} << (dropped - 1)) - 1 + odd;
    return std::bit_cast<double>(nearest >> dropped << dropped);
  });
}

double truncate_to_bits(double value, int bits) {
  return with_normal(value, bits, [&](double normal) {
    const int dropped = 53 - bits;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(normal) >> dropped << dropped);
  });
}

double round_to(DType dtype, double value) {
  return with_element(dtype, [&](auto type) { return decltype(type)::decode(decltype(type)::encode(value)); });
}

}  // namespace driftgate
