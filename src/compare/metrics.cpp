#include "compare/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace driftgate {
namespace {

// log of the sum of exponentials of a row.
double log_sum(std::span<const double> row) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (const double value : row) sum += std::exp(value - top);
  return top + std::log(sum);
}

double divergence(std::span<const double> got, std::span<const double> want) {
  const double got_norm = log_sum(got), want_norm = log_sum(want);
  double sum = 0;
  for (std::size_t i = 0; i < got.size(); ++i) sum += std::exp(want[i] - want_norm) * ((want[i] - want_norm) - (got[i] - got_norm));
  return std::max(sum, std::isnan(sum) ? sum : 0.0);     // rounding may leave it below 0
}

std::size_t place_of_largest(std::span<const double> row) { return static_cast<std::size_t>(std::max_element(row.begin(), row.end()) - row.begin()); }

void add_classes(std::span<const double> got, std::span<const double> want, std::size_t classes, Metrics& metrics) {
  std::vector<double> divergences;
  double agree = 0, sum = 0;
  for (std::size_t at = 0; at + classes <= got.size(); at += classes) {
    const auto a = got.subspan(at, classes), b = want.subspan(at, classes);
    divergences.push_back(divergence(a, b));
    sum += divergences.back();
    agree += place_of_largest(a) == place_of_largest(b) ? 1 : 0;
  }
  const auto rows = static_cast<double>(divergences.size());
  if (divergences.empty()) return;
  metrics["kl_mean"] = sum / rows;
  metrics["top1"] = std::isnan(sum) ? sum : agree / rows;
  std::sort(divergences.begin(), divergences.end(), [](double x, double y) { return std::isnan(y) ? !std::isnan(x) : x < y; });
  metrics["kl_p95"] = divergences[(divergences.size() - 1) * 95 / 100];
  metrics["kl_max"] = divergences.back();
}

}  // namespace

Metrics measure_output(std::span<const double> candidate, std::span<const double> reference, std::size_t classes) {
  double dot = 0, got = 0, want = 0, error = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    dot += candidate[i] * reference[i];
    got += candidate[i] * candidate[i];
    want += reference[i] * reference[i];
    error += (candidate[i] - reference[i]) * (candidate[i] - reference[i]);
  }
  Metrics metrics;
  metrics["cosine"] = dot / std::sqrt(got * want);
  metrics["relative_rms"] = std::sqrt(error / want);
  if (classes > 0) add_classes(candidate, reference, classes, metrics);
  return metrics;
}

}  // namespace driftgate
