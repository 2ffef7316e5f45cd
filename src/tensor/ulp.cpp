#include "tensor/ulp.hpp"

#include <bit>
#include <stdexcept>
#include <type_traits>

#include "tensor/element.hpp"

namespace driftgate {
namespace {

// The position of a value on the line of its format: 0 for both zeros, then one more a representable value.
template <class Element>
std::uint64_t steps_from_zero(double value) {
  using Stored = typename Element::Stored;
  using Bits = std::conditional_t<sizeof(Stored) == 2, std::uint16_t, std::conditional_t<sizeof(Stored) == 4, std::uint32_t, std::uint64_t>>;
  constexpr Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
  return std::bit_cast<Bits>(Element::encode(value)) & magnitude;
}

template <class Element>
std::uint64_t distance(double a, double b) {
  if (a != a || b != b) return a != a && b != b ? 0 : kUlpInfinite;
  const std::uint64_t from = steps_from_zero<Element>(a), to = steps_from_zero<Element>(b);
  if (std::signbit(a) != std::signbit(b)) return from + to;
  return from < to ? to - from : from - to;
}

}  // namespace

std::uint64_t ulp_distance(DType dtype, double a, double b) {
  switch (dtype) {
    case DType::f16:
      return distance<F16Element>(a, b);
    case DType::bf16:
      return distance<Bf16Element>(a, b);
    case DType::f32:
      return distance<NativeElement<float>>(a, b);
    case DType::f64:
      return distance<NativeElement<double>>(a, b);
    default:
      throw std::invalid_argument("ulp_distance of a type that is not f16, bf16, f32 or f64");
  }
}

}  // namespace driftgate
