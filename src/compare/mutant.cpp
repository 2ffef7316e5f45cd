#include "compare/mutant.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::array<std::string_view, 13> kNames = {"zeros",       "times_two", "one_wrong", "shifted",     "transposed",  "stale_tail",
                                                     "nan_to_zero", "lost_bits", "truncated", "tf32_inputs", "bf16_inputs", "drop_last_term", "fp8_inputs"};

using Values = std::vector<double>;

std::optional<Values> one_wrong(Values values, std::span<const double> reference) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(reference[i]) && reference[i] != 0) order.push_back(i);
  }
  if (order.empty()) return std::nullopt;
  const auto median = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
  std::nth_element(order.begin(), median, order.end(), [&](std::size_t a, std::size_t b) {
    const double x = std::fabs(reference[a]), y = std::fabs(reference[b]);
    return x < y || (x == y && a < b);
  });
  values[*median] *= 1.01;
  return values;
}

Buffer permuted(const Buffer& good, const std::vector<std::size_t>& from) {
  Buffer result = good;
  const std::size_t size = size_of(good.dtype);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::memcpy(result.bytes.data() + i * size, good.bytes.data() + from[i] * size, size);
  }
  return result;
}

// Which element of the good output stands at each place of the mutant.
std::optional<std::vector<std::size_t>> sources(Mutant mutant, const Shape& shape) {
  std::vector<std::size_t> from(static_cast<std::size_t>(numel(shape)));
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = i;
  if (mutant == Mutant::shifted) {
    if (!from.empty()) std::rotate(from.begin(), from.end() - 1, from.end());
  } else if (mutant == Mutant::stale_tail) {
    const std::size_t quarter = from.size() / 4;
    for (std::size_t i = 0; i < quarter; ++i) from[from.size() - quarter + i] = i;
  } else {
    if (shape.size() < 2) return std::nullopt;
    const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]), columns = static_cast<std::size_t>(shape.back());
    if (rows < 2 || columns < 2) return std::nullopt;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t matrix = i / (rows * columns), place = i % (rows * columns);
      from[i] = matrix * rows * columns + place % rows * columns + place / rows;
    }
  }
  return from;
}

// Toward zero; what the dtype cannot hold becomes its largest finite value.
double truncated_to(DType dtype, double value) {
  const double nearest = round_to(dtype, value);
  if (!std::isfinite(value) || std::fabs(nearest) <= std::fabs(value)) return nearest;
  const FloatFormat& format = float_format(dtype);
  const double largest = std::ldexp(2 - std::ldexp(1.0, 1 - format.precision), format.emax);
  if (std::isinf(nearest)) return std::copysign(largest, value);
  const double step = std::ldexp(1.0, std::max(std::ilogb(value), format.emin) - format.precision + 1);
  return std::trunc(value / step) * step;
}

std::optional<Values> rounded(Mutant mutant, DType dtype, Values values, std::span<const double> reference) {
  if (!is_float(dtype) && !is_complex(dtype)) return std::nullopt;
  if (mutant == Mutant::truncated && dtype != DType::f16 && dtype != DType::bf16) return std::nullopt;
  const int bits = float_format(dtype).precision - 2;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = mutant == Mutant::lost_bits ? round_to_bits(values[i], bits) : truncated_to(dtype, reference[i]);
  }
  return values;
}

std::optional<Values> changed(Mutant mutant, DType dtype, Values values, std::span<const double> reference) {
  switch (mutant) {
    case Mutant::zeros: return Values(values.size(), 0.0);
    case Mutant::times_two:
      for (double& value : values) value *= 2;
      return values;
    case Mutant::one_wrong: return one_wrong(std::move(values), reference);
    case Mutant::nan_to_zero:
      for (double& value : values) value = std::isnan(value) ? 0 : value;
      return values;
    default: return rounded(mutant, dtype, std::move(values), reference);
  }
}

// Components whose value did not change keep their bits: NaN payloads, and integers that no double holds.
std::optional<Buffer> with_values(Mutant mutant, const Buffer& good, std::span<const double> reference) {
  const Values before = to_doubles(good);
  const auto after = changed(mutant, good.dtype, before, reference);
  if (!after) return std::nullopt;
  Buffer result = good;
  const DType type = component(good.dtype);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const bool same = std::isnan(before[i]) ? std::isnan((*after)[i]) : std::memcmp(&before[i], &(*after)[i], sizeof(double)) == 0;
    if (!same) encode(type, (*after)[i], result.bytes.data() + i * size_of(type));
  }
  return result;
}

}  // namespace

std::string_view name(Mutant mutant) { return kNames[static_cast<std::size_t>(mutant)]; }

std::vector<Mutant> all_mutants() {
  std::vector<Mutant> all(kNames.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Mutant>(i);
  return all;
}

bool needs_inputs(Mutant mutant) { return mutant >= Mutant::tf32_inputs; }

std::optional<Buffer> mutate(Mutant mutant, const Buffer& good, std::span<const double> reference) {
  if (reference.size() != static_cast<std::size_t>(good.components())) {
    throw Error("bad_length", "reference of a mutant", "has length " + std::to_string(reference.size()) + ", not " +
                                                           std::to_string(good.components()));
  }
  if (needs_inputs(mutant)) return std::nullopt;
  std::optional<Buffer> result;
  if (mutant == Mutant::shifted || mutant == Mutant::transposed || mutant == Mutant::stale_tail) {
    if (const auto from = sources(mutant, good.shape)) result = permuted(good, *from);
  } else {
    result = with_values(mutant, good, reference);
  }
  if (result && result->bytes == good.bytes) return std::nullopt;
  return result;
}

}  // namespace driftgate
