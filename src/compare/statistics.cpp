#include "compare/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// e with 2 exp(-2 n e² / range²) = alarm.
double hoeffding(std::size_t n, double range, double alarm) { return range * std::sqrt(std::log(2 / alarm) / (2 * static_cast<double>(n))); }

// The same for martingale differences within ±bound: 2 exp(-n e² / (2 bound²)) = alarm.
double azuma(std::size_t n, double bound, double alarm) { return bound * std::sqrt(2 * std::log(2 / alarm) / static_cast<double>(n)); }

std::vector<double> centred(const Law& law, std::span<const double> samples) {
  std::vector<double> v;
  v.reserve(samples.size());
  for (const double x : samples) v.push_back((law.below(x) + law.up_to(x)) / 2 - 0.5);
  return v;
}

double mean_product(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum / static_cast<double>(a.size());
}

}  // namespace

double domain_test(const Law& law, std::span<const double> samples) {
  for (const double x : samples)
    if (!law.possible(x)) return kInfinity;
  if (!law.without_repetition()) return 0;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end() ? 0 : kInfinity;
}

double law_test(const Law& law, std::span<const double> samples) {
  if (samples.empty()) return kInfinity;
  std::vector<double> sorted(samples.begin(), samples.end());
  if (std::any_of(sorted.begin(), sorted.end(), [](double x) { return std::isnan(x); })) return kInfinity;
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  double distance = 0;
  for (std::size_t i = 0; i < sorted.size();) {
    const double x = sorted[i], before = static_cast<double>(i) / n;
    while (i < sorted.size() && sorted[i] == x) ++i;
    distance = std::max({distance, std::fabs(before - law.below(x)), std::fabs(static_cast<double>(i) / n - law.up_to(x))});
  }
  return distance / hoeffding(sorted.size(), 1, kFalseAlarm);
}

double moments_test(const Law& law, std::span<const double> samples) {
  if (samples.empty()) return kInfinity;
  const std::vector<double> v = centred(law, samples);
  const std::vector<double> ones(v.size(), 1);
  const double alarm = law.discrete() ? kFalseAlarm : kFalseAlarm / 2;
  const double first = std::fabs(mean_product(v, ones)) / hoeffding(v.size(), 1, alarm);
  const double second = law.discrete() ? 0 : std::fabs(mean_product(v, v) - 1.0 / 12) / hoeffding(v.size(), 0.25, alarm);
  return std::isnan(first + second) ? kInfinity : std::max(first, second);
}

double lags_test(const Law& law, std::span<const double> samples) {
  if (samples.size() < 2) return kInfinity;
  const std::vector<double> v = centred(law, samples);
  std::vector<std::size_t> lags;
  for (std::size_t lag = 1; lag <= v.size() / 2; lag = lag < 8 ? lag + 1 : 2 * lag) lags.push_back(lag);
  double most = 0;
  for (const std::size_t lag : lags) {
    const std::size_t n = v.size() - lag;
    const double product = mean_product(std::span(v).first(n), std::span(v).subspan(lag, n));
    most = std::max(most, std::isnan(product) ? kInfinity : std::fabs(product) / azuma(n, 0.25, kFalseAlarm / static_cast<double>(lags.size())));
  }
  return most;
}

double calls_test(const Law& law, std::span<const double> first, std::span<const double> second) {
  if (first.empty() || first.size() != second.size()) return kInfinity;
  const double product = mean_product(centred(law, first), centred(law, second));
  return std::isnan(product) ? kInfinity : std::fabs(product) / azuma(first.size(), 0.25, kFalseAlarm);
}

}  // namespace driftgate
