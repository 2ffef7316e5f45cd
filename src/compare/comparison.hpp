#pragma once
// One pass over the elements gives every number that a judgement, a report or a later limit may ask for.
//
// It knows no limit, no device and no op. u = 2^-24. For an element with reference r, candidate c, both in double:
//   O   = half an ULP of the candidate's dtype at r + half its smallest subnormal + (2^-126 if the format may flush) + allowance
//   excess = max(|c - r| - O, 0)            an infinity counts as 2^(emax+1), and r is clamped to it
//   required[family] = max over elements of excess / unit(family); 0 when every excess is 0
// with the units
//   exact       1 a differing element: required is the number of elements whose bits differ (any NaN equals any NaN;
//               -0 equals +0 unless signed_zero)
//   pointwise   sqrt(S² + (u·r)²)
//   linear      u·sqrt(K)·sqrt(r² + square_weight·Q)
//   general     sqrt(S² + (u·r)² + (0.1·u·rms(r))² + (0.25·rms(S))²)
// Where NaN stands on one side only, or excess > 0 over a unit of 0, required is +inf. A family whose ingredients (S; Q and K)
// are not given is `absent` (NaN), which never passes.
#include <array>
#include <cstdint>
#include <limits>
#include <span>

#include "case/spec.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {

inline constexpr double kUnitRoundoff = 0x1p-24;
inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
inline constexpr int kUlpBins = 16;                                          // 0, 1, 2, 3..4, 5..8, …, the last: more, or NaN

// Ingredients of the units; every span is empty or as long as the reference.
struct Units {
  std::span<const double> sensitivity;                                       // S of design.md §5
  std::span<const double> squares;                                           // Q: the op applied to the squares of its inputs
  std::span<const double> terms;                                             // K a element; empty with terms_scalar set
  double terms_scalar = 0;
  double square_weight = 1;
  std::span<const double> allowance;                                         // absolute; empty: 0
  bool signed_zero = false;
};

struct Comparison {
  std::int64_t count = 0;                                                    // components compared
  std::int64_t differing = 0;                                                // bits differ (by the exact rule)
  std::int64_t nonfinite_mismatch = 0;                                       // NaN against number
  std::array<double, kBounds> required = {kAbsent, kAbsent, kAbsent, kAbsent};
  std::array<double, kBounds> zeros_required = {kAbsent, kAbsent, kAbsent, kAbsent};  // had the candidate been all zeros
  double max_error = 0, rms_error = 0, rms_reference = 0;                    // absolute, over elements finite on both sides
  double p999 = 0;                                                           // 99.9th percentile of excess / unit of the chosen bound
  std::int64_t worst = -1;                                                   // component of the largest excess / unit
  double worst_got = 0, worst_want = 0;
  std::array<std::int64_t, kUlpBins> ulp_histogram{};
};

// candidate: components of `dtype` (float, complex); reference, and the units: one double a component.
// `chosen` selects the bound of p999 and worst. threads > 1 splits the elements; the result does not depend on it.
Comparison compare(DType dtype, std::span<const std::byte> candidate, std::span<const double> reference, const Units& units,
                   Bound chosen, int threads = 1);

// Integers and bool: element by element, bits; only the exact family is filled.
Comparison compare_integers(DType dtype, std::span<const std::byte> candidate, std::span<const std::byte> reference);

}  // namespace driftgate
