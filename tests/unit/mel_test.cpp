#include "preprocess/mel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace driftgate {
namespace {

TEST(Mel, PortableFunctionsAreNearThoseOfTheLibrary) {
  for (double x = -4; x <= 4; x += 0.037) EXPECT_NEAR(portable_sin(x), std::sin(x), 2e-14) << x;
  for (double x = -30; x <= 30; x += 0.23) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1, 1e-12) << x;
  for (double x = 0.02; x <= 90; x *= 1.13) EXPECT_NEAR(portable_log(x), std::log(x), 1e-12) << x;
}

TEST(Mel, TheWindowIsPeriodic) {
  const std::vector<double> window = hann_window(400);
  EXPECT_EQ(window[0], 0);
  EXPECT_NEAR(window[200], 1, 1e-15);
  for (int k = 1; k < 400; ++k) EXPECT_NEAR(window[static_cast<std::size_t>(k)], 0.5 - 0.5 * std::cos(2 * std::acos(-1.0) * k / 400), 1e-14);
}

// Values of librosa.filters.mel(sr=16000, n_fft=400, n_mels=80), the filters of a published speech model.
TEST(Mel, FiltersAreThoseOfTheField) {
  const std::vector<double> filters = mel_filters(16000, 400, 80);
  ASSERT_EQ(filters.size(), 80U * 201U);
  EXPECT_NEAR(filters[1], 0.02486259, 1e-8);
  EXPECT_NEAR(filters[40 * 201 + 43], 0.014735565741439144, 1e-12);
  EXPECT_NEAR(filters[79 * 201 + 192], 0.0031647117391764836, 1e-12);
  EXPECT_EQ(filters[0], 0);
  for (std::size_t m = 0; m < 80; ++m) {
    const auto row = filters.begin() + static_cast<std::ptrdiff_t>(m * 201);
    EXPECT_GT(*std::max_element(row, row + 201), 0) << "filter " << m << " sees no bin";
  }
}

}  // namespace
}  // namespace driftgate
