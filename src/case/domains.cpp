#include "case/domains.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "error.hpp"
#include "tensor/digest.hpp"

namespace driftgate {
namespace {

template <class Visit>  // visit(i, block) for i in [0, count)
void each_block(const Draws& draws, std::size_t count, Visit visit) {
  std::array<PhiloxBlock, 64> blocks;
  for (std::size_t first = 0; first < count; first += blocks.size()) {
    const std::size_t some = std::min(blocks.size(), count - first);
    philox(draws.key, first, draws.stream, static_cast<std::uint32_t>(draws.purpose), std::span(blocks.data(), some));
    for (std::size_t i = 0; i < some; ++i) visit(first + i, blocks[i]);
  }
}

template <class Visit>  // visit(i, word): word i % 4 of block i / 4
void each_word(const Draws& draws, std::size_t count, Visit visit) {
  each_block(draws, count / 4 + (count % 4 != 0), [&](std::size_t block, const PhiloxBlock& words) {
    const std::size_t first = 4 * block, some = std::min<std::size_t>(4, count - first);
    for (std::size_t i = 0; i < some; ++i) visit(first + i, words[i]);
  });
}

// A number in [0, count) for count <= 2^32. Its bias is below count / 2^32.
std::uint64_t below(std::uint64_t count, std::uint32_t word) { return count * word >> 32; }

double unit(std::uint32_t word) { return (word >> 8) * 0x1p-24; }

// Twice the sum of the eight 16-bit halves, centred: a whole number within ±524,280, of variance 8 (2^32 - 1) / 3.
double irwin_hall(const PhiloxBlock& words) {
  std::int32_t sum = 0;
  for (const std::uint32_t word : words) sum += static_cast<std::int32_t>((word & 0xFFFF) + (word >> 16));
  return 2 * sum - 8 * 65535;
}
constexpr double kToUnitVariance = 0x1.3988e1412ed76p-17;  // 1 / sqrt(8 (2^32 - 1) / 3), correctly rounded

std::vector<double> normal(const Draws& draws, std::size_t count, double mean, double scale) {
  std::vector<double> values(count);
  each_block(draws, count, [&](std::size_t i, const PhiloxBlock& words) { values[i] = mean + scale * (irwin_hall(words) * kToUnitVariance); });
  return values;
}

std::vector<double> uniform(const Draws& draws, std::size_t count, double low, double high) {
  std::vector<double> values(count);
  each_word(draws, count, [&](std::size_t i, std::uint32_t word) { values[i] = low + (high - low) * unit(word); });
  return values;
}

// Sign and exponent from one word, 23 bits of significand from the next.
std::vector<double> binades(const Draws& draws, std::size_t count, double low, double high, bool positive) {
  const auto lowest = static_cast<std::uint64_t>(low + 1023), choices = static_cast<std::uint64_t>(high - low + 1);
  std::vector<double> values(count);
  each_block(draws, count / 2 + count % 2, [&](std::size_t block, const PhiloxBlock& words) {
    for (std::size_t half = 0; half < 2 && 2 * block + half < count; ++half) {
      const std::uint32_t choice = words[2 * half], significand = words[2 * half + 1];
      const std::uint64_t sign = positive ? 0 : static_cast<std::uint64_t>(choice >> 31) << 63;
      const std::uint64_t exponent = lowest + below(choices, choice << 1);
      values[2 * block + half] = std::bit_cast<double>(sign | exponent << 52 | static_cast<std::uint64_t>(significand >> 9) << 29);
    }
  });
  return values;
}

// first + k for k in [0, choices)
std::vector<double> ladder(const Draws& draws, std::size_t count, double first, double choices) {
  const auto steps = static_cast<std::uint64_t>(choices);
  std::vector<double> values(count);
  each_word(draws, count, [&](std::size_t i, std::uint32_t word) { values[i] = first + static_cast<double>(below(steps, word)); });
  return values;
}

std::vector<double> permutation(const Draws& draws, std::size_t count, const std::string& where) {
  if (count > 0xFFFFFFFF) throw Error("bad_fill", where, "a permutation of more than 2^32 - 1 elements");
  std::vector<double> order(count);
  each_word(draws, count, [&](std::size_t i, std::uint32_t word) {
    const std::size_t j = static_cast<std::size_t>(below(i + 1, word));
    order[i] = order[j];
    order[j] = static_cast<double>(i);
  });
  return order;
}

std::vector<double> distinct(const Draws& draws, std::size_t count, double step, const std::string& where) {
  std::vector<double> values = permutation(draws, count, where);
  for (double& value : values) value = (value - (static_cast<double>(count) - 1) * 0.5) * step;
  return values;
}

std::vector<double> bernoulli(const Draws& draws, std::size_t count, double p) {
  std::vector<double> values(count);
  each_word(draws, count, [&](std::size_t i, std::uint32_t word) { values[i] = word * 0x1p-32 < p ? 1 : 0; });
  return values;
}

// A power of two between 1 / (2 sqrt(n)) and 1 / sqrt(n): it keeps a random matrix's norm near 1 in any size.
double inverse_root(std::size_t n) {
  double scale = 1;
  while (scale * scale * static_cast<double>(n) > 1) scale *= 0.5;
  return scale;
}

// B·Bᵀ/n + I for the normal B in `matrix`.
void make_spd(std::span<double> matrix, std::size_t n) {
  const std::vector<double> b(matrix.begin(), matrix.end());
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum += b[i * n + k] * b[j * n + k];
      matrix[i * n + j] = matrix[j * n + i] = sum / static_cast<double>(n) + (i == j ? 1 : 0);
    }
  }
}

// The next two scale the uniforms in [0, 1) that `matrix` holds to both signs, but for the diagonal.
void make_lower(std::span<double> matrix, std::size_t n) {
  const double scale = inverse_root(n);
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    const std::size_t row = i / n, column = i % n;
    const double diagonal = 1 + matrix[i], under = (2 * matrix[i] - 1) * scale;
    matrix[i] = column > row ? 0 : (column == row ? diagonal : under);
  }
}

void make_well(std::span<double> matrix, std::size_t n) {
  const double scale = inverse_root(n);
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = (i / n == i % n ? 3 : 0) + (2 * matrix[i] - 1) * scale;
}

void make_causal(std::span<double> matrix, std::size_t columns) {
  for (std::size_t i = 0; i < matrix.size(); ++i) matrix[i] = i % columns <= i / columns ? 1 : 0;
}

std::vector<double> matrices(std::string_view domain, const Draws& draws, const Shape& shape, std::size_t count, const std::string& where) {
  const std::string name(domain);
  if (shape.size() < 2) throw Error("bad_fill", where, "domain \"" + name + "\" needs two dims or more");
  if (count != static_cast<std::size_t>(numel(shape))) throw Error("bad_fill", where, "domain \"" + name + "\" has no complex form");
  const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]), columns = static_cast<std::size_t>(shape.back());
  if (domain != "causal" && rows != columns) throw Error("bad_fill", where, "domain \"" + name + "\" needs square matrices");

  std::vector<double> values = domain == "spd" ? normal(draws, count, 0, 1) : uniform(draws, count, 0, 1);
  for (std::size_t first = 0; first < count; first += rows * columns) {
    const std::span<double> matrix(values.data() + first, rows * columns);
    if (domain == "spd") make_spd(matrix, rows);
    if (domain == "lower") make_lower(matrix, rows);
    if (domain == "well") make_well(matrix, rows);
    if (domain == "causal") make_causal(matrix, columns);
  }
  return values;
}

}  // namespace

Draws::Draws(const std::string& text, std::uint32_t number, Purpose use) : stream(number), purpose(use) {
  const std::uint64_t low = digest(std::string_view(text)).low;
  key = {static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(low >> 32)};
}

std::vector<double> draw_signs(const Draws& draws, std::size_t count) {
  std::vector<double> signs(count);
  each_word(draws, count / 32 + (count % 32 != 0), [&](std::size_t i, std::uint32_t word) {
    const std::size_t some = std::min<std::size_t>(32, count - 32 * i);
    for (std::size_t bit = 0; bit < some; ++bit) signs[32 * i + bit] = (word >> bit & 1) != 0 ? 1 : -1;
  });
  return signs;
}

std::vector<double> draw_domain(std::string_view domain, double first, double second, const Draws& draws, const Shape& shape, std::size_t count,
                                const std::string& where) {
  if (domain == "normal") return normal(draws, count, first, second);
  if (domain == "uniform") return uniform(draws, count, first, second);
  if (domain == "binades") return binades(draws, count, first, second, false);
  if (domain == "binades_pos") return binades(draws, count, first, second, true);
  if (domain == "integers") return ladder(draws, count, first, second - first + 1);
  if (domain == "halves") return ladder(draws, count, first + 0.5, second - first);
  if (domain == "distinct") return distinct(draws, count, first, where);
  if (domain == "permutation") return permutation(draws, count, where);
  if (domain == "bernoulli") return bernoulli(draws, count, first);
  if (domain == "constant") return std::vector<double>(count, first);
  return matrices(domain, draws, shape, count, where);
}

}  // namespace driftgate
