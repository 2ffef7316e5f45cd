#pragma once
// Whether samples follow a law, and whether they are independent. Every test yields statistic / critical value: 1 is the limit.
//
// The critical values are proven bounds that hold for every number of samples and every law, not asymptotic quantiles:
//   law       sup |F_n - F|                            Dvoretzky–Kiefer–Wolfowitz with Massart's constant (Ann. Probab. 1990):
//                                                      P(sup > e) <= 2 exp(-2 n e²)
//   moments   mean of v, of v² where F is continuous   Hoeffding (JASA 1963): P(|mean - E| > e) <= 2 exp(-2 n e² / range²)
//   lags      mean of v[i] v[i + k]                    Azuma (1967), for the products are martingale differences within ±1/4
//   calls     mean of v[i] w[i] of two calls           the same
// where v = (P(X < x) + P(X <= x)) / 2 - 1/2 of each sample: within ±1/2, mean 0 for every law, variance 1/12 for a continuous one.
// One test of honest samples alarms with a probability of at most kFalseAlarm. A run of at most kMostTests tests then gives a
// false alarm with a probability below 1e-6; seeds are fixed, so one device always gives the same answer.
#include <cstdint>
#include <span>
#include <vector>

#include "case/law.hpp"

namespace driftgate {

inline constexpr double kFalseAlarm = 1e-10;
inline constexpr std::int64_t kMostTests = 9999;

// 0 when every sample is possible under the law (and, for a permutation, there once), else infinity.
double domain_test(const Law& law, std::span<const double> samples);
double law_test(const Law& law, std::span<const double> samples);
double moments_test(const Law& law, std::span<const double> samples);
// Lags 1 to 8 and the powers of two up to half the samples: what repeats in a row, a vector, a thread group, a slice.
double lags_test(const Law& law, std::span<const double> samples);
double calls_test(const Law& law, std::span<const double> first, std::span<const double> second);

}  // namespace driftgate
