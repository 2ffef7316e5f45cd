#pragma once
// Every number that a judgement, a report or a later limit may ask for, of one output against its fp64 reference.
//
// It knows no limit, no device and no op. u = 2^-24. For an element with reference r, candidate c, both in double:
//   O   = half an ULP of the candidate's dtype at r + half its smallest subnormal + (2^-126 if the format may flush) + allowance
//   excess = max(|c - r| - O, 0)            an infinity counts as 2^(emax+1), and r is clamped to it
//   required[family] = max over elements of excess / unit(family); 0 when every excess is 0
// with the units
//   exact       1 a differing element: required is the number of elements whose bits differ from r rounded to the dtype
//               (any NaN equals any NaN; -0 equals +0 unless signed_zero)
//   pointwise   sqrt(S² + (u·r)²)
//   linear      u·sqrt(max(K, 1))·sqrt(r² + square_weight·Q)
//   general     sqrt(S² + (u·r)² + (0.1·u·rms(r))² + (0.25·rms(S))²)        rms over |r| < 2^(emax+1), and over finite S
// (statistical, ratio, ensemble and levels are measured elsewhere: compare/statistics.hpp and the programs' own files.)
// Where NaN stands on one side only, or excess > 0 over a unit of 0, required is +inf in every family given. A unit that is NaN,
// infinite or imaginary measures nothing and counts as 0; an allowance that is negative or not finite allows nothing.
// A family whose ingredients (S; Q and K) are not given is `absent` (NaN), which never passes. With no elements all are 0.
// Units are squared in double: one above 2^511 or below 2^-537 counts as 0, an excess below 2^-537 as none. An infinity of f64
// counts as the largest double. Only f64 can meet this.
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "case/spec.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {

inline constexpr double kUnitRoundoff = 0x1p-24;
inline constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
inline constexpr int kUlpBins = 16;                                          // 0, 1, 2, 3..4, 5..8, …, the last: more, or NaN

constexpr std::array<double, kBounds> all_absent() {
  std::array<double, kBounds> values{};
  values.fill(kAbsent);
  return values;
}

// Ingredients of the units; every span is empty or as long as the reference.
struct Units {
  std::span<const double> sensitivity;                                       // S of design.md §5
  std::span<const double> squares;                                           // Q: the op applied to the squares of its inputs
  std::span<const double> terms;                                             // K a element; empty with terms_scalar set
  double terms_scalar = 0;
  double square_weight = 1;
  std::span<const double> allowance;                                         // absolute; empty: 0
  bool signed_zero = false;
  std::optional<DType> rounded;                                              // the narrower dtype that the candidate was rounded to before it was stored: O is of that
  int roundings = 1;                                                         // 2 where both sides were rounded: O counts twice, but for the allowance
};

struct Comparison {
  std::int64_t count = 0;                                                    // components compared
  std::int64_t differing = 0;                                                // bits differ (by the exact rule)
  std::int64_t nonfinite_mismatch = 0;                                       // NaN against number
  std::array<double, kBounds> required = all_absent();
  double zeros_required = kAbsent;                                           // of the chosen bound, had the candidate been all zeros
  double max_error = 0, rms_error = 0;                                       // absolute, over elements finite on both sides
  double rms_reference = 0;                                                  // over references the format can hold
  // 99.9th percentile of excess / unit of the chosen bound: at most 6.1 % above it, and never above the largest. Below 2^-16
  // it is 0, above 2^16 the largest.
  double p999 = 0;
  std::int64_t worst = -1;                                                   // first component of the largest; -1: no excess
  double worst_got = 0, worst_want = 0;
  std::array<std::int64_t, kUlpBins> ulp_histogram{};
};

// candidate: components of `dtype` (float, complex); reference, and the units: one double a component; Error `bad_length`.
// `chosen` selects the bound of zeros_required, p999 and worst. threads > 1 splits the elements; the result does not depend on it.
Comparison compare(DType dtype, std::span<const std::byte> candidate, std::span<const double> reference, const Units& units,
                   Bound chosen, int threads = 1);

// Integers and bool: element by element, bits; only the exact family and `worst` are filled.
Comparison compare_integers(DType dtype, std::span<const std::byte> candidate, std::span<const std::byte> reference);

}  // namespace driftgate
