#pragma once
// Scalar fp32 arithmetic of an honest Apple GPU: correctly rounded + - * / sqrt, subnormals flushed with their sign, and elementary
// functions that are wrong by a hash of their arguments, never by more than a bound.
//
// Bounds: `spec` takes those of the Metal Shading Language Specification 4, table 8.1 (4 ulp for exp, log, sin, …, 5 for tanh and atan,
// 6 for tan and atan2, 16 for pow); `mild` about half of them. The results at 0, ±1 and the infinities are exact. Formulas (expm1, exp2,
// log1p, sigmoid) are those of PyTorch's Metal kernels; `graph_*` are the functions inside MPSGraph composites, taken from table 8.2.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace driftgate {

inline float flushed(float x) { return std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x; }
// To `bits` significant bits, ties to even, as TF32 (11) does; infinities and NaN stay.
float rounded_to(float x, int bits);
// a·b + c as one rounding of the exact value would give it, but for rare ties that double rounds first.
inline float fused(float a, float b, float c) { return static_cast<float>(static_cast<double>(a) * b + c); }

class MetalMath {
 public:
  enum class Errors { mild, spec };
  explicit MetalMath(Errors errors) : spec_(errors == Errors::spec) {}

  float exp(float x) const { return wrong(std::exp(double{x}), x, 1, spec_ ? 4 : 2); }
  float log(float x) const { return wrong(std::log(double{x}), x, 2, spec_ ? 4 : 2); }
  float log2(float x) const { return wrong(std::log2(double{x}), x, 3, spec_ ? 4 : 2); }
  float log10(float x) const { return wrong(std::log10(double{x}), x, 4, spec_ ? 4 : 2); }
  float sin(float x) const { return wrong(std::sin(double{x}), x, 5, spec_ ? 4 : 2); }
  float cos(float x) const { return wrong(std::cos(double{x}), x, 6, spec_ ? 4 : 2); }
  float tan(float x) const { return wrong(std::tan(double{x}), x, 7, spec_ ? 6 : 3); }
  float asin(float x) const { return wrong(std::asin(double{x}), x, 8, spec_ ? 4 : 2); }
  float acos(float x) const { return wrong(std::acos(double{x}), x, 9, spec_ ? 4 : 2); }
  float atan(float x) const { return wrong(std::atan(double{x}), x, 10, spec_ ? 5 : 2.5); }
  float sinh(float x) const { return wrong(std::sinh(double{x}), x, 11, spec_ ? 4 : 2); }
  float cosh(float x) const { return wrong(std::cosh(double{x}), x, 12, spec_ ? 4 : 2); }
  float tanh(float x) const { return wrong(std::tanh(double{x}), x, 13, spec_ ? 5 : 2.5); }
  float erf(float x) const { return wrong(std::erf(double{x}), x, 14, 1); }
  float erfc(float x) const { return wrong(std::erfc(double{x}), x, 15, spec_ ? 5.6 : 2.8); }
  float atan2(float y, float x) const { return wrong(std::atan2(double{y}, double{x}), y, 16 + bits(x), spec_ ? 6 : 3); }
  float pow(float x, float y) const { return wrong(std::pow(double{x}, double{y}), x, 17 + bits(y), spec_ ? 16 : 4); }

  float exp2(float x) const { return pow(2, x); }
  float expm1(float x) const { return std::fabs(x) < 1e-5f ? x + 0.5f * x * x : exp(x) - 1; }
  float log1p(float x) const;
  float sigmoid(float x) const { return 1 / (1 + exp(-x)); }

  float graph_exp(float x) const { return wrong(std::exp(double{x}), x, 18, 3 + std::floor(2 * std::fabs(double{x}))); }
  float graph_log(float x) const;
  float graph_asinh(float x) const { return std::copysign(graph_log_sum(std::fabs(x), 1), x); }
  float graph_acosh(float x) const { return x < 1 ? std::numeric_limits<float>::quiet_NaN() : graph_log_sum(x, -1); }
  float graph_atanh(float x) const { return 0.5f * graph_log((1 + x) / (1 - x)); }

 private:
  // log(x + sqrt(x^2 + one)), naive as table 8.2 has it up to where the square would overflow: nobody has seen a device do that.
  float graph_log_sum(float x, float one) const { return x > 0x1p60f ? graph_log(x) + 0.6931472f : graph_log(x + std::sqrt(x * x + one)); }
  static std::uint64_t bits(float x) { return std::uint64_t{std::bit_cast<std::uint32_t>(x)} << 8; }
  static float wrong(double exact, float argument, std::uint64_t salt, double ulps);

  bool spec_;
};

}  // namespace driftgate
