#include "preprocess/mel.hpp"

#include <algorithm>

namespace driftgate {
namespace {

constexpr double kPi = 0x1.921fb54442d18p+1;
constexpr double kHzAMel = 200.0 / 3.0, kBreakHz = 1000, kBreakMel = kBreakHz / kHzAMel;
constexpr double kLogStep = 0x1.db365858403a3p+0 / 27;  // ln 6.4 / 27

double hertz(double mel) { return mel < kBreakMel ? mel * kHzAMel : kBreakHz * portable_exp(kLogStep * (mel - kBreakMel)); }

double mel_of(double hz) { return hz < kBreakHz ? hz / kHzAMel : kBreakMel + portable_log(hz / kBreakHz) / kLogStep; }

}  // namespace

double portable_sin(double x) {
  double term = x, sum = x;
  for (int k = 1; k <= 16; ++k) {
    term *= -x * x / ((2 * k) * (2 * k + 1));
    sum += term;
  }
  return sum;
}

double portable_exp(double x) {
  constexpr int kHalvings = 8;
  const double small = x / (1 << kHalvings);
  double term = 1, sum = 1;
  for (int k = 1; k <= 12; ++k) {
    term *= small / k;
    sum += term;
  }
  for (int i = 0; i < kHalvings; ++i) sum *= sum;
  return sum;
}

// Newton's steps on exp(y) = x, from the first term of the series in (x - 1) / (x + 1).
double portable_log(double x) {
  double y = 2 * (x - 1) / (x + 1);
  for (int i = 0; i < 6; ++i) {
    const double e = portable_exp(y);
    y += 2 * (x - e) / (x + e);
  }
  return y;
}

std::vector<double> hann_window(std::int64_t n) {
  std::vector<double> window(static_cast<std::size_t>(n));
  for (std::int64_t k = 0; k < n; ++k) {
    const double s = portable_sin(kPi * static_cast<double>(k) / static_cast<double>(n));
    window[static_cast<std::size_t>(k)] = s * s;
  }
  return window;
}

std::vector<double> mel_filters(std::int64_t rate, std::int64_t n_fft, std::int64_t mels) {
  const std::int64_t bins = n_fft / 2 + 1;
  const double top = mel_of(static_cast<double>(rate) / 2);
  std::vector<double> edges(static_cast<std::size_t>(mels) + 2);
  for (std::size_t i = 0; i < edges.size(); ++i) edges[i] = hertz(top * static_cast<double>(i) / static_cast<double>(mels + 1));
  std::vector<double> filters(static_cast<std::size_t>(mels * bins));
  for (std::int64_t m = 0; m < mels; ++m) {
    const double low = edges[static_cast<std::size_t>(m)], centre = edges[static_cast<std::size_t>(m) + 1], high = edges[static_cast<std::size_t>(m) + 2];
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      const double hz = static_cast<double>(bin) * static_cast<double>(rate) / static_cast<double>(n_fft);
      const double height = std::min((hz - low) / (centre - low), (high - hz) / (high - centre));
      filters[static_cast<std::size_t>(m * bins + bin)] = std::max(0.0, height) * 2 / (high - low);
    }
  }
  return filters;
}

}  // namespace driftgate
