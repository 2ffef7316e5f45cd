#include "compare/comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "error.hpp"
#include "tensor/buffer.hpp"
#include "tensor/ulp.hpp"

namespace driftgate {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr DType kFloats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr Bound kFamilies[] = {Bound::exact, Bound::pointwise, Bound::linear, Bound::general};

std::size_t at(Bound bound) { return static_cast<std::size_t>(bound); }

struct Data {
  DType dtype = DType::f32;
  std::vector<double> candidate, reference, sensitivity, squares, terms, allowance;
  bool signed_zero = false;

  Units units() const { return {sensitivity, squares, terms, 0, 0.5, allowance, signed_zero}; }
  std::vector<std::byte> bytes() const {
    return from_doubles(dtype, {static_cast<std::int64_t>(candidate.size())}, candidate).bytes;
  }
  Comparison compare_as(Bound chosen, int threads = 1) const {
    return compare(dtype, bytes(), reference, units(), chosen, threads);
  }
};

// Values of every kind; `wild` adds what leaves the fast path.
Data random_data(DType dtype, std::size_t count, unsigned seed, bool wild) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  const FloatFormat& format = float_format(dtype);
  const double ulp = std::ldexp(1.0, 1 - format.precision), tiny = std::ldexp(1.0, format.emin);
  Data data;
  data.dtype = dtype;
  for (std::size_t i = 0; i < count; ++i) {
    double r = normal(random);
    double c = r * (1 + 3 * ulp * normal(random));
    const unsigned kind = static_cast<unsigned>(random() % (wild ? 40 : 12));
    if (kind == 0) r = 0, c = i % 2 ? -0.0 : 0.0;
    if (kind == 1) c = -r;
    if (kind == 2 && dtype != DType::f64) r *= 8 * tiny, c = i % 2 ? r : 0;
    if (kind == 3) r = std::ldexp(r, 8), c = r + 1e-3;
    if (kind == 20) r = kNan;
    if (kind == 21) c = kNan;
    if (kind == 22) r = c = kNan;
    if (kind == 23 && dtype != DType::f64) r = std::ldexp(1 + std::fabs(r), format.emax + 1), c = i % 2 ? kInf : r;
    if (kind == 24) r = -kInf, c = i % 2 ? -kInf : 1;
    if (kind == 25) r = kInf, c = i % 2 ? -kInf : kNan;
    data.reference.push_back(r);
    data.candidate.push_back(round_to(dtype, c));
    data.sensitivity.push_back(kind == 4 ? 0 : kind == 26 ? kNan : kind == 27 ? kInf : 0x1p-24 * std::fabs(normal(random)));
    data.squares.push_back(kind == 28 ? -1e9 : std::fabs(normal(random)));
    data.terms.push_back(kind == 5 ? 0.25 : 1 + static_cast<double>(i % 50));
    data.allowance.push_back(kind == 6 ? 0x1p-20 : kind == 29 ? kNan : kind == 30 ? -1 : 0);
  }
  return data;
}

// The header's rules, word for word, one element at a time.
struct Slow {
  explicit Slow(const Data& data) : data_(data), format_(float_format(data.dtype)) {
    limit_ = std::min(std::ldexp(1.0L, format_.emax + 1), static_cast<long double>(std::numeric_limits<double>::max()));
    long double r2 = 0, s2 = 0;
    std::size_t rs = 0, ss = 0;
    for (std::size_t i = 0; i < data.reference.size(); ++i) {
      const long double r = data.reference[i], s = data.sensitivity[i];
      if (std::fabs(r) < limit_) r2 += r * r, ++rs;
      if (std::isfinite(data.sensitivity[i])) s2 += s * s, ++ss;
    }
    floor_ = 0x1p-48L * 0.01L * (rs ? r2 / rs : 0) + 0.0625L * (ss ? s2 / ss : 0);
  }

  long double clamped(double value) const { return std::clamp<long double>(value, -limit_, limit_); }

  long double excess(double c, std::size_t i) const {
    const double r = data_.reference[i];
    if (std::isnan(c) || std::isnan(r)) return std::isnan(c) && std::isnan(r) ? 0 : kInf;
    const long double want = clamped(r);
    const int exponent = std::max(want == 0 ? format_.emin : std::ilogb(want), format_.emin);
    long double allowed = std::ldexp(1.0L, exponent - format_.precision) + std::ldexp(1.0L, format_.emin - format_.precision);
    if (format_.may_flush) allowed += std::ldexp(1.0L, format_.emin);
    const double extra = data_.allowance[i];
    if (std::isfinite(extra) && extra > 0) allowed += extra;
    return std::max(std::fabs(clamped(c) - want) - allowed, 0.0L);
  }

  long double unit(Bound bound, std::size_t i) const {
    const long double r = std::isnan(data_.reference[i]) ? 0 : clamped(data_.reference[i]), s = data_.sensitivity[i];
    const long double u = 0x1p-24L, k = std::max(1.0, data_.terms[i]), weight = 0.5L;
    switch (bound) {
      case Bound::pointwise: return std::sqrt(s * s + u * u * r * r);
      case Bound::general: return std::sqrt(s * s + u * u * r * r + floor_);
      default: return u * std::sqrt(k) * std::sqrt(r * r + weight * data_.squares[i]);
    }
  }

  bool differs(double c, std::size_t i) const {
    const double want = round_to(data_.dtype, data_.reference[i]);
    if (std::isnan(c) || std::isnan(want)) return std::isnan(c) != std::isnan(want);
    return c != want || (data_.signed_zero && std::signbit(c) != std::signbit(want));
  }

  long double ratio(Bound bound, double c, std::size_t i) const {
    if (bound == Bound::exact) return std::isnan(c) != std::isnan(data_.reference[i]) ? kInf : differs(c, i);
    const long double over = excess(c, i), by = unit(bound, i);
    if (over == 0) return 0;
    return by > 0 && by < 0x1p511L ? over / by : kInf;
  }

  std::vector<double> ratios(Bound bound, bool zeros = false) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < data_.reference.size(); ++i) {
      all.push_back(static_cast<double>(ratio(bound, zeros ? 0 : data_.candidate[i], i)));
    }
    return all;
  }

  double required(Bound bound, bool zeros = false) const {
    double sum = 0, most = 0;
    for (const double ratio : ratios(bound, zeros)) sum += ratio, most = std::max(most, ratio);
    return bound == Bound::exact ? sum : most;
  }

  const Data& data_;
  const FloatFormat& format_;
  long double limit_ = 0, floor_ = 0;
};

void expect_close(double got, double want) {
  if (std::isinf(want)) EXPECT_EQ(got, want);
  else EXPECT_NEAR(got, want, 1e-11 * want);
}

void expect_as_slow(const Data& data, int threads = 1) {
  const Slow slow(data);
  for (const Bound chosen : kFamilies) {
    const Comparison fast = data.compare_as(chosen, threads);
    for (const Bound bound : kFamilies) {
      SCOPED_TRACE(std::string(name(data.dtype)) + " family " + std::to_string(at(bound)));
      expect_close(fast.required[at(bound)], slow.required(bound));
    }
    expect_close(fast.zeros_required, slow.required(chosen, true));
    std::vector<double> ratios = slow.ratios(chosen);
    const double most = *std::max_element(ratios.begin(), ratios.end());
    ASSERT_GE(fast.worst, 0);
    expect_close(ratios[static_cast<std::size_t>(fast.worst)], most);
    std::sort(ratios.begin(), ratios.end());
    const double exact = ratios[ratios.size() - ratios.size() / 1000 - 1];
    EXPECT_GE(fast.p999, exact > 0x1p-16 ? exact * (1 - 1e-12) : 0);
    EXPECT_LE(fast.p999, exact > 0x1p15 ? most * (1 + 1e-12) : exact * 1.0607);
  }
}

void expect_counts_as_slow(const Data& data) {
  const Slow slow(data);
  const Comparison fast = data.compare_as(Bound::exact);
  std::array<std::int64_t, kUlpBins> bins{};
  std::int64_t differing = 0, mismatch = 0, finite = 0;
  double max_error = 0, squares = 0;
  for (std::size_t i = 0; i < data.reference.size(); ++i) {
    const double c = data.candidate[i], r = data.reference[i];
    const std::uint64_t distance = ulp_distance(data.dtype, c, r);
    std::size_t bin = 0;
    for (std::uint64_t edge = 0; bin + 1 < kUlpBins && distance > edge; edge = edge == 0 ? 1 : 2 * edge) ++bin;
    ++bins[bin];
    differing += slow.differs(c, i);
    mismatch += std::isnan(c) != std::isnan(r);
    if (!std::isfinite(c) || !std::isfinite(r)) continue;
    const double error = static_cast<double>(std::fabs(slow.clamped(c) - slow.clamped(r)));
    ++finite;
    max_error = std::max(max_error, error);
    squares += error * error;
  }
  EXPECT_EQ(fast.ulp_histogram, bins);
  EXPECT_EQ(fast.differing, differing);
  EXPECT_EQ(fast.nonfinite_mismatch, mismatch);
  EXPECT_EQ(fast.max_error, max_error);
  EXPECT_NEAR(fast.rms_error, std::sqrt(squares / static_cast<double>(finite)), 1e-12 * fast.rms_error);
  EXPECT_EQ(fast.count, static_cast<std::int64_t>(data.reference.size()));
}

TEST(Comparison, AgreesWithTheRulesOnOrdinaryValues) {
  for (const DType dtype : kFloats) expect_as_slow(random_data(dtype, 5003, 1, false));
}

// So many that most blocks are not ranked: enough larger ratios were seen.
TEST(Comparison, AgreesWithTheRulesOnManyValues) {
  for (const int threads : {1, 3}) expect_as_slow(random_data(DType::f32, 200003, 7, false), threads);
}

TEST(Comparison, AgreesWithTheRulesOnInfinitiesNanAndOverflow) {
  for (const DType dtype : kFloats) {
    for (unsigned seed = 0; seed < 20; ++seed) expect_as_slow(random_data(dtype, 1 + 57 * seed, seed, true));
  }
}

TEST(Comparison, CountsAgreeWithTheRules) {
  for (const DType dtype : kFloats) {
    for (const bool signed_zero : {false, true}) {
      Data data = random_data(dtype, 3001, 5, true);
      data.signed_zero = signed_zero;
      expect_counts_as_slow(data);
      expect_close(data.compare_as(Bound::exact).zeros_required, Slow(data).required(Bound::exact, true));
    }
  }
}

TEST(Comparison, TheCandidateThatIsTheRoundedReferenceNeedsNothingAndAnotherDoes) {
  for (const DType dtype : kFloats) {
    Data data = random_data(dtype, 2000, 3, false);
    for (std::size_t i = 0; i < data.reference.size(); ++i) data.candidate[i] = round_to(dtype, data.reference[i]);
    const Comparison same = data.compare_as(Bound::general);
    for (const Bound bound : kFamilies) EXPECT_EQ(same.required[at(bound)], 0);
    data.reference[1234] += 0.1;
    const Comparison moved = data.compare_as(Bound::general);
    for (const Bound bound : kFamilies) EXPECT_GT(moved.required[at(bound)], 0);
    EXPECT_EQ(moved.worst, 1234);
  }
}

TEST(Comparison, ValuesThatWereRoundedBeforeTheyWereStored) {
  const std::vector<double> truth = {1.0 + 0x1p-12, -3.0003, 1e-3};
  std::vector<double> halves;
  for (const double value : truth) halves.push_back(round_to(DType::f16, value));
  const Buffer stored = from_doubles(DType::f32, {3}, halves);
  const std::vector<double> sensitivity(3, 0x1p-24);
  Units units;
  units.sensitivity = sensitivity;
  EXPECT_GT(compare(DType::f32, stored.bytes, truth, units, Bound::pointwise).required[at(Bound::pointwise)], 100);
  units.rounded = DType::f16;
  EXPECT_EQ(compare(DType::f32, stored.bytes, truth, units, Bound::pointwise).required[at(Bound::pointwise)], 0);
  halves[1] += 0x1p-8;
  EXPECT_GT(compare(DType::f32, from_doubles(DType::f32, {3}, halves).bytes, truth, units, Bound::pointwise).required[at(Bound::pointwise)], 100)
      << "more than the one rounding";
}

}  // namespace
}  // namespace driftgate
