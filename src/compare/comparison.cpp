#include "compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "compare/block.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t kBlocksAThread = 32;                                  // fewer are not worth a thread

constexpr std::size_t index(Bound bound) { return static_cast<std::size_t>(bound); }

void require_size(std::size_t size, std::size_t expected, const char* what) {
  if (size != expected) {
    throw Error("bad_length", what, "has length " + std::to_string(size) + ", not " + std::to_string(expected));
  }
}

Task task_of(DType dtype, std::span<const std::byte> candidate, std::span<const double> reference, const Units& units,
             Bound chosen) {
  Task task;
  task.dtype = component(dtype);
  task.candidate = candidate.data();
  task.reference = reference;
  task.units = units;
  task.chosen = chosen;
  const FloatFormat& format = float_format(units.rounded.value_or(dtype));
  const double smallest_normal = std::ldexp(1.0, format.emin);
  task.range = std::min(std::ldexp(1.0, format.emax + 1), std::numeric_limits<double>::max());
  task.half_ulp = units.roundings * std::ldexp(1.0, -format.precision);
  task.least_half_ulp = smallest_normal * task.half_ulp;
  task.always_allowed = std::max(task.least_half_ulp, 0x1p-1074) + units.roundings * (format.may_flush ? smallest_normal : 0);
  require_size(candidate.size(), reference.size() * size_of(task.dtype), "candidate");
  const auto optional = [&](std::span<const double> values, const char* what) {
    if (!values.empty()) require_size(values.size(), reference.size(), what);
  };
  optional(units.sensitivity, "sensitivity");
  optional(units.squares, "squares");
  optional(units.terms, "terms");
  optional(units.allowance, "allowance");
  const bool sensitivity = !units.sensitivity.empty();
  const bool linear = !units.squares.empty() && (!units.terms.empty() || units.terms_scalar > 0);
  task.above_p999 = static_cast<std::int64_t>(reference.size()) / 1000;
  task.given = {true, sensitivity, linear, sensitivity};     // the other families are not measured element by element
  return task;
}

// Calls work(thread, first block, end) on contiguous ranges that cover [0, blocks) in the order of the threads.
template <class Work>
void share(std::int64_t blocks, int threads, Work work) {
  std::vector<std::thread> others;
  const auto begin = [&](int thread) { return blocks * thread / threads; };
  for (int thread = 1; thread < threads; ++thread) others.emplace_back(work, thread, begin(thread), begin(thread + 1));
  work(0, 0, begin(1));
  for (std::thread& other : others) other.join();
}

double mean(double sum, std::int64_t count) { return count > 0 ? sum / static_cast<double>(count) : 0; }

double percentile_999(const Tally& tally, std::int64_t count, std::int64_t above, double most) {
  const std::int64_t wanted = count - above;
  std::int64_t seen = 0;
  for (int bin = 0; bin < kRatioBins; ++bin) {
    for (const auto& table : tally.ratios) seen += table[static_cast<std::size_t>(bin)];
    if (seen >= wanted) return std::min(ratio_edge(bin), most);
  }
  return most;
}

void fill_required(const Task& task, const Tally& tally, Comparison& result) {
  for (std::size_t bound = 0; bound < kBounds; ++bound) {
    if (!task.given[bound]) continue;
    const bool exact = bound == index(Bound::exact);
    const double required = exact ? static_cast<double>(tally.differing) : std::sqrt(tally.square[bound]);
    result.required[bound] = tally.nan_mismatch > 0 ? kInfinity : required;
    if (bound != index(task.chosen)) continue;
    const double zeros = exact ? static_cast<double>(tally.zeros_differing) : std::sqrt(tally.zeros_square);
    result.zeros_required = tally.reference_nan > 0 ? kInfinity : zeros;
  }
}

}  // namespace

Comparison compare(DType dtype, std::span<const std::byte> candidate, std::span<const double> reference, const Units& units,
                   Bound chosen, int threads) {
  Task task = task_of(dtype, candidate, reference, units, chosen);
  Comparison result;
  result.count = static_cast<std::int64_t>(reference.size());
  if (reference.empty()) {                                                   // nothing can be absent where nothing is
    result.required.fill(0);
    result.zeros_required = 0;
    return result;
  }
  const std::int64_t blocks = (result.count + kBlock - 1) / kBlock;
  threads = static_cast<int>(std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(1, blocks / kBlocksAThread)));
  const auto length = [&](std::int64_t block) { return std::min(kBlock, result.count - block * kBlock); };

  std::vector<Moments> moments(static_cast<std::size_t>(blocks));
  share(blocks, threads, [&](int, std::int64_t first, std::int64_t end) {
    for (std::int64_t b = first; b < end; ++b) moments[static_cast<std::size_t>(b)] = moments_of_block(task, b * kBlock, length(b));
  });
  Moments total;
  for (const Moments& block : moments) {
    total.reference += block.reference;
    total.references += block.references;
    total.sensitivity += block.sensitivity;
    total.sensitivities += block.sensitivities;
  }
  const double reference_square = mean(total.reference, total.references);
  task.general_floor = std::pow(0.1 * kUnitRoundoff, 2) * reference_square +
                       0.25 * 0.25 * mean(total.sensitivity, total.sensitivities);

  std::vector<double> errors(static_cast<std::size_t>(blocks));
  std::vector<Tally> tallies(static_cast<std::size_t>(threads));
  share(blocks, threads, [&](int thread, std::int64_t first, std::int64_t end) {
    for (std::int64_t b = first; b < end; ++b) {
      const bool tame = moments[static_cast<std::size_t>(b)].references == length(b);
      errors[static_cast<std::size_t>(b)] =
          tally_block(task, b * kBlock, length(b), tame, tallies[static_cast<std::size_t>(thread)]);
    }
  });
  Tally tally;
  for (const Tally& part : tallies) tally.add(part, chosen);
  double squared_errors = 0;
  for (const double error : errors) squared_errors += error;

  result.differing = tally.differing;
  result.nonfinite_mismatch = tally.nan_mismatch;
  fill_required(task, tally, result);
  result.max_error = tally.max_error;
  result.rms_error = std::sqrt(mean(squared_errors, tally.finite));
  result.rms_reference = std::sqrt(reference_square);
  result.p999 = task.given[index(chosen)] ? percentile_999(tally, result.count, task.above_p999, std::sqrt(tally.square[index(chosen)])) : kAbsent;
  result.ulp_histogram = tally.ulps;
  result.worst = tally.worst;
  if (result.worst >= 0) {
    const auto worst = static_cast<std::size_t>(result.worst);
    result.worst_got = decode(task.dtype, candidate.data() + worst * size_of(task.dtype));
    result.worst_want = reference[worst];
  }
  return result;
}

Comparison compare_integers(DType dtype, std::span<const std::byte> candidate, std::span<const std::byte> reference) {
  const std::size_t size = size_of(dtype), elements = reference.size() / size;
  require_size(candidate.size(), reference.size(), "candidate");
  require_size(elements * size, reference.size(), "reference");
  Comparison result;
  result.count = static_cast<std::int64_t>(elements);
  std::int64_t nonzero = 0;
  for (std::size_t i = 0; i < elements; ++i) {
    const std::byte *got = candidate.data() + i * size, *want = reference.data() + i * size;
    nonzero += std::any_of(want, want + size, [](std::byte byte) { return byte != std::byte{0}; });
    if (std::memcmp(got, want, size) == 0) continue;
    if (result.differing++ > 0) continue;
    result.worst = static_cast<std::int64_t>(i);
    result.worst_got = decode(dtype, got);
    result.worst_want = decode(dtype, want);
  }
  result.required[index(Bound::exact)] = static_cast<double>(result.differing);
  result.zeros_required = static_cast<double>(nonzero);
  return result;
}

}  // namespace driftgate
