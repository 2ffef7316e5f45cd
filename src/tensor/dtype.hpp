#pragma once
// The element types of tensors, and exact conversion between them and double.
//
// Every f16, bf16 and f32 value is exact in double; encoding rounds once, to nearest, ties to even, straight from double
// (never through float), overflow to infinity. c64 is a pair of f32: `components` is 2 and its format is f32's.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace driftgate {

enum class DType : std::uint8_t { f16, bf16, f32, f64, i8, u8, i16, i32, i64, boolean, c64, c128 };

std::string_view name(DType dtype);                          // "f16", "bool", …: the word in specs and evidence
std::optional<DType> parse_dtype(std::string_view name);     // the inverse; nullopt when unknown
std::size_t size_of(DType dtype);                            // bytes of one element (8 for c64)
bool is_float(DType dtype);                                  // f16 bf16 f32 f64
bool is_complex(DType dtype);
DType component(DType dtype);                                // c64 -> f32, c128 -> f64, else itself

// A binary floating-point format: values m * 2^e with `precision` significant bits, emin <= exponent <= emax.
struct FloatFormat {
  int precision;      // 11, 8, 24, 53
  int emin;           // exponent of the smallest normal number: -14, -126, -126, -1022
  int emax;           // exponent of the largest finite number: 15, 127, 127, 1023
  bool may_flush;     // fp32 and bf16: an honest device may flush subnormals (notes: Metal)
};
const FloatFormat& float_format(DType dtype);                // of the component type; a float or complex dtype
double unit_roundoff(DType dtype);                           // 2^-precision: the relative error of one rounding

double decode(DType dtype, const void* element);             // one real component, exact (i64 above 2^53 rounds)
void encode(DType dtype, double value, void* element);       // round to nearest even; integers saturate (NaN: 0), bool = value != 0

// `value` rounded to `bits` significant bits (ties to even), exponent unbounded. Non-finite values pass through.
double round_to_bits(double value, int bits);
double truncate_to_bits(double value, int bits);             // toward zero
// `value` as the format would store it: rounding, subnormal steps and overflow to infinity included.
double round_to(DType dtype, double value);

}  // namespace driftgate
