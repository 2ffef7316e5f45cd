#include "compare/block.hpp"

#include <cmath>
#include <type_traits>

#include "compare/lanes.hpp"
#include "tensor/element.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint64_t kExponent = std::uint64_t{0x7ff} << 52;
constexpr double kNearly = 1 - 0x1p-40;
constexpr std::uint32_t kFarthest = (1 << (kUlpBins - 3)) + 1;               // the first distance of the last bin
static_assert(std::has_single_bit(unsigned{kUlpBins}));

constexpr std::size_t index(Bound bound) { return static_cast<std::size_t>(bound); }

std::uint8_t ulp_bin(std::uint64_t distance) {
  const int bin = distance == 0 ? 0 : 1 + static_cast<int>(std::bit_width(distance - 1));
  return static_cast<std::uint8_t>(std::min(bin, kUlpBins - 1));
}

// One block in the making: plain loops over arrays. What is rare (NaN, infinity, values out of range, signs that differ) is
// left out of them and put right afterwards, element by element. `Element` is a type of tensor/element.hpp.
template <class Element>
class Block {
 public:
  Block(const Task& task, std::int64_t first, std::int64_t count, Tally& tally)
      : task_(task), first_(first), count_(count), tally_(tally), reference_(task.reference.data() + first) {}

  double run(bool tame) {
    tame = load() && tame;
    if (task_.given[index(Bound::pointwise)]) fetch_after(task_.units.sensitivity.data() + first_);
    count_distances(tame);
    if (!tame) clamp();
    fetch_after(reinterpret_cast<const Stored*>(task_.candidate) + first_);
    measure_excess();
    fetch_after(task_.reference.data() + first_);
    if (!tame) mark_nonfinite();
    if (!tame) any_excess_ = true;
    if (task_.given[index(Bound::pointwise)]) measure(Bound::pointwise, sensitivity_square(0));
    if (task_.given[index(Bound::general)]) measure(Bound::general, sensitivity_square(task_.general_floor));
    if (task_.given[index(Bound::linear)]) measure_linear();
    if (task_.chosen == Bound::exact) rank_exact();
    tally_.finite += count_;
    if (new_max_error_) tally_.max_error = std::max(tally_.max_error, largest(error_, count_));
    return sum_of_squares(error_, count_);
  }

 private:
  using Stored = typename Element::Stored;
  using Bits = std::conditional_t<sizeof(Stored) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(Stored) == 4, std::uint32_t, std::uint64_t>>;
  using Wide = std::conditional_t<sizeof(Stored) == 8, std::uint64_t, std::uint32_t>;
  static constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  static constexpr Bits kUnsigned = static_cast<Bits>(kSign - 1);

  double candidate_at(std::int64_t i) const { return Element::decode(std::bit_cast<Stored>(candidate_bits_[i])); }
  double reference_at(std::int64_t i) const { return task_.reference[static_cast<std::size_t>(first_ + i)]; }
  bool zero_sign_differs(std::int64_t i) const {
    return task_.units.signed_zero && candidate_bits_[i] != reference_bits_[i] &&
           ((candidate_bits_[i] | reference_bits_[i]) & kUnsigned) == 0;
  }
  bool nan_differs(std::int64_t i) const { return std::isnan(candidate_at(i)) != std::isnan(reference_at(i)); }

  bool load();
  void count_distances(bool tame);
  [[gnu::noinline]] void correct_distances();
  [[gnu::noinline]] void clamp();
  void measure_excess();
  [[gnu::noinline]] void mark_nonfinite();
  void measure_linear();
  [[gnu::noinline]] void rank_exact();
  void rank();
  [[gnu::noinline]] void raise(Bound bound);

  auto sensitivity_square(double floor) const {
    return [s = task_.units.sensitivity.data() + first_, r = reference_, floor](std::int64_t i) {
      const double rounding = kUnitRoundoff * r[i];
      return s[i] * s[i] + rounding * rounding + floor;
    };
  }

  // Asks for the next block's values, if there are any: the hardware's own prefetching pauses while a block is worked on.
  template <class Value>
  void fetch_after(const Value* block) const {
    constexpr std::int64_t line = 64 / sizeof(Value);
    for (std::int64_t i = 0; i < count_; i += line) __builtin_prefetch(block + kBlock + i);
  }

  // A unit whose square is NaN or infinite measures nothing: it counts as 0.
  static double usable(double square) { return square < kInfinity ? square : 0; }

  // Divides only where the block may hold a new largest ratio, or one that the percentile still depends on.
  template <class Square>
  void measure(Bound bound, Square square_of_unit) {
    if (bound == task_.chosen) return measure_chosen(square_of_unit);
    if (!any_excess_) return;
    const double best = kNearly * tally_.square[index(bound)];
    std::uint64_t over = 0;
    for (std::int64_t i = 0; i < count_; ++i) over |= bits_of(best * usable(square_of_unit(i)) - excess_[i] * excess_[i]);
    if (over >> 63 == 0) return;
    divide(excess_, square_of_unit);
    raise(bound);
  }

  template <class Square>
  void measure_chosen(Square square_of_unit) {
    const double least = kNearly * std::min(tally_.square[index(task_.chosen)], tally_.rank_edge);
    const double zeros_best = kNearly * tally_.zeros_square;
    std::uint64_t over = 0, zeros_over = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      const double square = usable(square_of_unit(i));
      over |= bits_of(least * square - excess_[i] * excess_[i]);
      zeros_over |= bits_of(zeros_best * square - zeros_excess_[i] * zeros_excess_[i]);
    }
    if (over >> 63) {
      divide(excess_, square_of_unit);
      raise(task_.chosen);
      rank();
    } else {
      tally_.ratios[0][0] += count_;
    }
    if (zeros_over >> 63) {
      divide(zeros_excess_, square_of_unit);
      tally_.zeros_square = std::max(tally_.zeros_square, largest(ratio_, count_));
    }
  }

  template <class Square>
  void divide(const double* excess, Square square_of_unit) {
    for (std::int64_t i = 0; i < count_; ++i) ratio_[i] = positive(excess[i] * (excess[i] / usable(square_of_unit(i))));
  }

  const Task& task_;
  const std::int64_t first_, count_;
  Tally& tally_;
  const double* reference_;                                                  // the caller's, or clamped_
  Bits candidate_bits_[kBlock], reference_bits_[kBlock];                     // of the reference rounded to the dtype
  std::uint8_t ulp_bin_[kBlock];
  double candidate_[kBlock], clamped_[kBlock];
  double error_[kBlock], excess_[kBlock], zeros_excess_[kBlock];
  bool new_max_error_ = false, any_excess_ = false;
  double ratio_[kBlock], terms_[kBlock];                                     // (excess / unit)²; K
};

// Whether every candidate is finite.
template <class Element>
bool Block<Element>::load() {
  const std::byte* bytes = task_.candidate + first_ * static_cast<std::int64_t>(sizeof(Stored));
  std::memcpy(candidate_bits_, bytes, static_cast<std::size_t>(count_) * sizeof(Stored));
  const Bits gap = static_cast<Bits>(kSign - std::bit_cast<Bits>(Element::encode(kInfinity)));
  Bits over = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    over |= static_cast<Bits>((candidate_bits_[i] & kUnsigned) + gap);
    candidate_[i] = candidate_at(i);
    reference_bits_[i] = std::bit_cast<Bits>(Element::encode(reference_[i]));
  }
  return (over & kSign) == 0;
}

template <class Element>
void Block<Element>::count_distances(bool tame) {
  Bits signs = 0;
  std::uint32_t nonzero = 0, top = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    const Bits a = candidate_bits_[i], b = reference_bits_[i];
    const Wide distance = std::min<Wide>(a > b ? Wide{a} - Wide{b} : Wide{b} - Wide{a}, kFarthest);
    // Exponents of 0.25 for 0, 0.5 for 1, 1.5 for 2, 2.5 and 3.5 for 3 and 4, …: consecutive numbers, the bins.
    const float scale = static_cast<float>(static_cast<std::int32_t>(distance)) - 0.5f;
    const std::int32_t bin = (std::max(std::bit_cast<std::int32_t>(scale), std::bit_cast<std::int32_t>(0.25f)) >> 23) - 125;
    top |= static_cast<std::uint32_t>(bin);
    ulp_bin_[i] = static_cast<std::uint8_t>(bin);
    signs |= a ^ b;
    nonzero += (b & kUnsigned) != 0;
  }
  tally_.zeros_differing += nonzero;
  if (!tame || signs & kSign) {
    correct_distances();
    top = kUlpBins - 1;
  }
  if (task_.units.signed_zero) {
    for (std::int64_t i = 0; i < count_; ++i) tally_.zeros_differing += reference_bits_[i] == kSign;
  }
  static_assert(kBlock < 256);
  for (int bin = 0; bin < 1 << std::bit_width(top); ++bin) {
    std::uint8_t hits = 0;
    for (std::int64_t i = 0; i < count_; ++i) hits = static_cast<std::uint8_t>(hits + (ulp_bin_[i] == static_cast<std::uint8_t>(bin)));
    tally_.ulps[static_cast<std::size_t>(bin)] += hits;
    tally_.differing += bin == 0 ? 0 : hits;
  }
}

template <class Element>
void Block<Element>::correct_distances() {
  for (std::int64_t i = 0; i < count_; ++i) {
    const Bits a = candidate_bits_[i], b = reference_bits_[i];
    const bool a_nan = std::isnan(candidate_at(i)), b_nan = std::isnan(reference_at(i));
    if (a_nan || b_nan) {
      ulp_bin_[i] = a_nan && b_nan ? 0 : kUlpBins - 1;
    } else if ((a ^ b) & kSign) {
      ulp_bin_[i] = ulp_bin(std::uint64_t{static_cast<Bits>(a & kUnsigned)} + static_cast<Bits>(b & kUnsigned));
      tally_.differing += zero_sign_differs(i);
    }
  }
}

// Puts both sides in range; a NaN becomes 0 until mark_nonfinite.
template <class Element>
void Block<Element>::clamp() {
  for (std::int64_t i = 0; i < count_; ++i) {
    const double c = candidate_[i], r = reference_[i];
    const bool nan = std::isnan(c) || std::isnan(r);
    candidate_[i] = nan ? 0 : std::clamp(c, -task_.range, task_.range);
    clamped_[i] = std::isnan(r) ? 0 : std::clamp(r, -task_.range, task_.range);
  }
  reference_ = clamped_;
}

template <class Element>
void Block<Element>::measure_excess() {
  const double half_ulp = task_.half_ulp, least = task_.least_half_ulp, constant = task_.always_allowed;
  const double max_error = tally_.max_error;
  std::uint64_t over = 0, any = 0;
  const auto measure_with = [&](auto addend) {
    for (std::int64_t i = 0; i < count_; ++i) {
      const double r = reference_[i];
      const double power = std::bit_cast<double>(bits_of(r) & kExponent);
      const double allowed = std::max(power * half_ulp, least) + addend(i);
      const double error = std::fabs(candidate_[i] - r);
      over |= bits_of(max_error - error);
      error_[i] = error;
      excess_[i] = positive(error - allowed);
      any |= bits_of(excess_[i]);
      zeros_excess_[i] = positive(std::fabs(r) - allowed);
    }
  };
  if (task_.units.allowance.empty()) {
    measure_with([constant](std::int64_t) { return constant; });
  } else {                                                                   // one that is not finite allows nothing
    measure_with([constant, allowance = task_.units.allowance.data() + first_](std::int64_t i) {
      return constant + positive(allowance[i] < kInfinity ? allowance[i] : 0);
    });
  }
  new_max_error_ = over >> 63;
  any_excess_ = any != 0;
}

template <class Element>
void Block<Element>::mark_nonfinite() {
  for (std::int64_t i = 0; i < count_; ++i) {
    const double c = candidate_at(i), r = reference_at(i);
    if (std::isfinite(c) && std::isfinite(r)) continue;
    error_[i] = 0;
    --tally_.finite;
    if (nan_differs(i)) ++tally_.nan_mismatch;
    if (std::isnan(c) || std::isnan(r)) excess_[i] = nan_differs(i) ? kInfinity : 0;
    if (std::isnan(r)) ++tally_.reference_nan;
  }
}

template <class Element>
void Block<Element>::measure_linear() {
  const Units& units = task_.units;
  const auto square_with = [&](auto terms) {
    return [terms, r = reference_, q = units.squares.data() + first_, weight = units.square_weight](std::int64_t i) {
      return positive(kUnitRoundoff * kUnitRoundoff * terms(i) * (r[i] * r[i] + weight * q[i]));
    };
  };
  if (units.terms.empty()) {
    measure(Bound::linear, square_with([k = std::max(1.0, units.terms_scalar)](std::int64_t) { return k; }));
  } else {
    for (std::int64_t i = 0; i < count_; ++i) terms_[i] = std::max(1.0, units.terms[static_cast<std::size_t>(first_ + i)]);
    measure(Bound::linear, square_with([k = terms_](std::int64_t i) { return k[i]; }));
  }
}

template <class Element>
void Block<Element>::rank_exact() {
  for (std::int64_t i = 0; i < count_; ++i) {
    ratio_[i] = nan_differs(i) ? kInfinity : ulp_bin_[i] != 0 || zero_sign_differs(i) ? 1 : 0;
  }
  raise(Bound::exact);
  rank();
}

template <class Element>
void Block<Element>::raise(Bound bound) {
  double& best = tally_.square[index(bound)];
  const double top = largest(ratio_, count_);
  if (!(top > best)) return;
  best = top;
  if (bound == task_.chosen) tally_.worst = first_ + (std::find(ratio_, ratio_ + count_, top) - ratio_);
}

template <class Element>
void Block<Element>::rank() {
  std::int16_t bins[kBlock];
  for (std::int64_t i = 0; i < count_; ++i) {
    const auto place = static_cast<std::int16_t>(static_cast<std::int16_t>(bits_of(ratio_[i]) >> kRatioShift) - kFirstRatio);
    bins[i] = std::clamp<std::int16_t>(place, 0, kRatioBins - 1);
  }
  std::int64_t i = 0;
  for (; i + kTables <= count_; i += kTables) {
    for (int j = 0; j < kTables; ++j) ++tally_.ratios[j][bins[i + j]];
  }
  for (; i < count_; ++i) ++tally_.ratios[0][bins[i]];
  tally_.block_ranked(task_.above_p999);
}

#ifdef DRIFTGATE_AVX2
[[DRIFTGATE_AVX2]] double tally_f32_avx2(const Task& task, std::int64_t first, std::int64_t count,
                                                            bool tame, Tally& tally) {
  return Block<NativeElement<float>>(task, first, count, tally).run(tame);
}
#endif

}  // namespace

double tally_block(const Task& task, std::int64_t first, std::int64_t count, bool tame, Tally& tally) {
#ifdef DRIFTGATE_AVX2
  if (task.dtype == DType::f32 && __builtin_cpu_supports("avx2")) return tally_f32_avx2(task, first, count, tame, tally);
#endif
  switch (task.dtype) {
    case DType::f16: return Block<F16Element>(task, first, count, tally).run(tame);
    case DType::bf16: return Block<Bf16Element>(task, first, count, tally).run(tame);
    case DType::f32: return Block<NativeElement<float>>(task, first, count, tally).run(tame);
    default: return Block<NativeElement<double>>(task, first, count, tally).run(tame);
  }
}

}  // namespace driftgate
