#pragma once
// What an input tensor holds: a named domain with parameters, written "normal(scale=30)" in a spec.
//
// Values are a pure function of the key and the shape: bits from Philox, then + - * / and comparisons of doubles only
// (no libm), so every machine makes the same bits. The tensor's dtype rounds them last, to nearest even.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tensor/buffer.hpp"
#include "tensor/digest.hpp"

namespace driftgate {

// Domains, each chosen for what it provokes:
//   normal(mean=0, scale=1)      Irwin–Hall sum of 8 uniforms of 16 bits, variance scale², kurtosis 2.85: cancellation, no far
//                                tails (|x - mean| < 4.9 scale)
//   uniform(low=0, high=1)       low + (high - low) * 24 random bits
//   binades(low=-8, high=8)      random sign, exponent uniform in [low, high], 23 random bits below it: magnitudes from 2^low to
//                                under 2^(high+1), exact in f32; binades_pos: positive only
//   integers(low=-8, high=8)     whole numbers, both ends included: exact sums, ties, indices
//   halves(low=-8, high=8)       k + 1/2 between low and high: the ties of rounding
//   distinct(step=1)             a permutation of 0..n-1, centred on 0, times step: no ties before rounding
//   permutation                  a permutation of 0..n-1: indices without duplicates
//   bernoulli(p=0.5)             0 or 1
//   constant(value=1)
//   values(...)                  the list in the spec's "values", repeated: special values, edge cases
//   spd, lower, well             square matrices over the last two dims, real types only, well conditioned in any size:
//                                symmetric positive definite (B·Bᵀ/n + I); lower triangular with diagonal in [1, 2]; 3·I plus
//                                a small random part. Off the diagonal the last two are within 1/sqrt(n)
//   causal                       bool mask: column <= row over the last two dims
struct Fill {
  std::string domain = "normal";
  std::map<std::string, double> parameters;
  std::vector<double> values;                  // of domain "values"
};

// Parses "name" or "name(key=number, …)". Error `bad_fill` naming the key for an unknown domain or parameter.
Fill parse_fill(const std::string& text, const std::string& where);
std::string to_string(const Fill& fill);

// One tensor. `key` names the input ("softmax.int/wide/self"); the same key and shape give the same values in every dtype
// before rounding.
Buffer fill_tensor(const Fill& fill, DType dtype, const Shape& shape, const std::string& key);

// n random signs (+1 or -1) for the perturbed references; `stream` tells apart the draws of one key.
std::vector<double> random_signs(const std::string& key, std::uint32_t stream, std::size_t n);

}  // namespace driftgate
