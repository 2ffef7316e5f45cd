#include "sim/metal_math.hpp"

namespace driftgate {
namespace {

// In (-1, 1), the same for the same bits everywhere (SplitMix64).
double signed_hash(std::uint64_t key) {
  key += 0x9e3779b97f4a7c15;
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  key ^= key >> 31;
  return static_cast<double>(static_cast<std::int64_t>(key) >> 10) * 0x1p-53;
}

}  // namespace

float rounded_to(float x, int bits) {
  if (!std::isfinite(x)) return x;
  std::uint32_t pattern = std::bit_cast<std::uint32_t>(x);
  const int dropped = 24 - bits;
  const std::uint32_t last = (pattern >> dropped) & 1;
  pattern += ((std::uint32_t{1} << (dropped - 1)) - 1) + last;
  return std::bit_cast<float>(pattern & ~((std::uint32_t{1} << dropped) - 1));
}

float MetalMath::wrong(double exact, float argument, std::uint64_t salt, double ulps) {
  if (!std::isfinite(exact) || exact == 0 || std::fabs(exact) == 1) return static_cast<float>(exact);
  const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
  // Half an ulp of the bound is left to the rounding that follows.
  const double error = signed_hash((bits(argument) << 24) ^ salt) * (ulps - 0.5) * ulp;
  return flushed(static_cast<float>(exact + error));
}

float MetalMath::log1p(float x) const {
  const float sum = 1 + x;
  if (sum == 1) return x;
  const float result = log(sum);
  return x > -0.5f && x < 0.5f ? result * (x / (sum - 1)) : result;
}

float MetalMath::graph_log(float x) const {
  const double exact = std::log(double{x});
  if (x < 0.5f || x > 2) return wrong(exact, x, 19, 3);
  return exact == 0 ? 0.0f : static_cast<float>(exact + signed_hash(bits(x) ^ 20) * 0x1p-21);   // an absolute bound there
}

}  // namespace driftgate
