#include "compare/levels.hpp"

#include <cmath>
#include <cstdlib>

#include "error.hpp"

namespace driftgate {
namespace {

double required_of(int largest, std::int64_t differing, std::size_t count) {
  if (largest > 1) return largest;
  return differing == 0 ? 0 : static_cast<double>(differing) / static_cast<double>(count);
}

}  // namespace

Comparison compare_levels(std::span<const std::byte> candidate, std::span<const std::byte> reference) {
  if (candidate.size() != reference.size()) throw Error("bad_length", "levels", "two pictures of different sizes");
  Comparison result;
  result.count = static_cast<std::int64_t>(reference.size());
  double squares = 0, reference_squares = 0;
  int largest = 0, brightest = 0;
  std::int64_t not_black = 0;
  for (std::size_t i = 0; i < reference.size(); ++i) {
    const int got = static_cast<int>(candidate[i]), want = static_cast<int>(reference[i]), difference = std::abs(got - want);
    result.differing += difference != 0;
    squares += static_cast<double>(difference) * difference;
    reference_squares += static_cast<double>(want) * want;
    not_black += want != 0;
    brightest = std::max(brightest, want);
    if (difference <= largest) continue;
    largest = difference;
    result.worst = static_cast<std::int64_t>(i);
    result.worst_got = got;
    result.worst_want = want;
  }
  result.max_error = largest;
  const double count = reference.empty() ? 1 : static_cast<double>(reference.size());
  result.rms_error = std::sqrt(squares / count);
  result.rms_reference = std::sqrt(reference_squares / count);
  result.required[static_cast<std::size_t>(Bound::exact)] = static_cast<double>(result.differing);
  result.required[static_cast<std::size_t>(Bound::levels)] = required_of(largest, result.differing, reference.size());
  result.zeros_required = required_of(brightest, not_black, reference.size());
  return result;
}

}  // namespace driftgate
