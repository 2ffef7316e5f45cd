// Speeds of the steps that people wait for, measured side by side in one run. Ratios are worth more than the figures: compare with
// the copy of memory, and with yesterday's run on the same machine.
#include <fmt/format.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "case/case.hpp"
#include "compare/comparison.hpp"
#include "error.hpp"
#include "judge/judgement.hpp"
#include "run/environment.hpp"
#include "run/runner.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kSmall = 4096;                   // input elements of a small case
constexpr double kSeconds = 3;                          // least time a figure is measured over
constexpr std::int64_t kJudged = 20000;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Best of five rates or more, over a second at least, of `work`, which returns how many units it did.
template <class Work>
double best_rate(Work&& work) {
  double best = 0;
  const auto begin = Clock::now();
  for (int round = 0; round < 5 || since(begin) < 1; ++round) {
    const auto start = Clock::now();
    const double units = work();
    best = std::max(best, units / since(start));
  }
  return best;
}

double list_rate(const std::filesystem::path& cases) {
  return best_rate([&] {
    const Suite suite = Suite::load(cases);
    std::size_t count = 0, bytes = 0;
    suite.for_each(Filter{}, [&](const Case& c) {
      ++count;
      bytes += c.id().size();
    });
    return bytes > 0 ? static_cast<double>(count) : 0.0;
  });
}

bool small(const Case& c) {
  std::int64_t elements = 0;
  for (const auto& [name, argument] : c.arguments->arguments)
    if (const auto* tensor = std::get_if<TensorArgument>(&argument)) elements += numel(tensor->shape);
  return elements <= kSmall;
}

struct RunRate {
  double per_second = 0;
  std::vector<CaseRecord> records;
};

// Every step of a case as `run` takes it, evidence written to a file.
RunRate run_rate(const std::vector<Case>& cases, Direction direction, const GoldenSet* golden, const std::filesystem::path& scratch) {
  Runner runner(Device::cpu, golden);
  RunRate rate;
  std::FILE* evidence = std::fopen(scratch.c_str(), "w");
  const auto start = Clock::now();
  std::int64_t count = 0;
  while (since(start) < kSeconds)
    for (const Case& c : cases) {
      if (c.direction != direction || !small(c)) continue;
      CaseRecord record = runner.run(c);
      const std::string line = to_line(record);
      std::fwrite(line.data(), 1, line.size(), evidence);
      if (static_cast<std::int64_t>(rate.records.size()) < kJudged) rate.records.push_back(std::move(record));
      ++count;
    }
  rate.per_second = static_cast<double>(count) / since(start);
  std::fclose(evidence);
  return rate;
}

// Stored lines parsed and judged, row look-up included.
double judge_rate(const std::vector<CaseRecord>& records, const Suite& suite, const ToleranceTable& table) {
  std::vector<std::string> lines;
  for (std::int64_t i = 0; i < kJudged; ++i) lines.push_back(to_line(records[static_cast<std::size_t>(i) % records.size()]));
  return best_rate([&] {
    std::int64_t judged = 0;
    for (const std::string& line : lines) {
      const CaseRecord record = parse_line(line, "bench");
      const Case c = suite.find(record.id);
      judged += judge_case(record, c, table.row_for(c)).id.empty() ? 0 : 1;
    }
    return static_cast<double>(judged);
  });
}

struct Streams {
  std::vector<float> candidate;
  std::vector<double> reference, sensitivity;
};

Streams make_streams(std::size_t n) {
  Streams s{std::vector<float>(n), std::vector<double>(n), std::vector<double>(n)};
  for (std::size_t i = 0; i < n; ++i) {
    s.reference[i] = 1.0 + static_cast<double>(i % 1021) / 1021.0;
    s.candidate[i] = static_cast<float>(s.reference[i]) + (i % 7 == 0 ? 0x1p-23F : 0);    // a device that is off by an ULP here and there
    s.sensitivity[i] = kUnitRoundoff;
  }
  return s;
}

// Bytes of candidate and reference; the sensitivity is read too and not counted.
double compare_rate(const Streams& s, int threads) {
  return best_rate([&] {
    Units units;
    units.sensitivity = s.sensitivity;
    const Comparison c = compare(DType::f32, std::as_bytes(std::span(s.candidate)), s.reference, units, Bound::pointwise, threads);
    return c.count > 0 ? static_cast<double>(s.candidate.size() * 12) / 1e9 : 0.0;
  });
}

double copy_rate(const Streams& s) {
  std::vector<double> target(s.reference.size());
  return best_rate([&] {
    std::memcpy(target.data(), s.reference.data(), target.size() * sizeof(double));
    return target.back() > 0 ? static_cast<double>(target.size() * 16) / 1e9 : 0.0;
  });
}

int bench(bool json) {
  const std::filesystem::path home = std::string(kSourceDir);
  open_device(Device::cpu, false);
  const Suite suite = Suite::load(home / "tests/cases");
  const ToleranceTable table = ToleranceTable::load(home / "tolerances");
  const auto golden_path = find_golden_set(home / "golden");
  std::optional<GoldenSet> golden;
  if (golden_path) golden = GoldenSet::open(*golden_path);
  const GoldenSet* set = golden ? &*golden : nullptr;
  Filter operators = Filter::canonical();
  operators.levels = {SuiteLevel::op};
  const std::vector<Case> cases = suite.select(operators);
  const std::filesystem::path scratch = std::filesystem::temp_directory_path() / fmt::format("driftgate_bench_{}", Clock::now().time_since_epoch().count());

  const double list = list_rate(home / "tests/cases");
  RunRate forward = run_rate(cases, Direction::forward, set, scratch);
  const RunRate backward = run_rate(cases, Direction::backward, set, scratch);
  std::filesystem::remove(scratch);
  const double judged = judge_rate(forward.records, suite, table);
  const Streams streams = make_streams(std::size_t{1} << 24);
  const double one = compare_rate(streams, 1), two = compare_rate(streams, 2), copy = copy_rate(streams);
  if (json) {
    fmt::print("{}\n", Json{{"schema", "driftgate.bench/1"}, {"list_cases_per_s", list}, {"run_cases_per_s", forward.per_second},
                            {"run_backward_cases_per_s", backward.per_second}, {"judge_cases_per_s", judged}, {"compare_gb_per_s_1t", one},
                            {"compare_gb_per_s_2t", two}, {"copy_gb_per_s", copy}}.dump());
  } else {
    fmt::print("list      {:>10.0f} cases a second, specs read each time\n", list);
    fmt::print("run       {:>10.0f} small forward cases a second on one core, {:.0f} forward-with-backward\n", forward.per_second, backward.per_second);
    fmt::print("judge     {:>10.0f} stored cases a second\n", judged);
    fmt::print("compare   {:>10.2f} GB/s on one thread, {:.2f} on two; copying memory {:.2f}\n", one, two, copy);
  }
  return 0;
}

}  // namespace
}  // namespace driftgate

int main(int argc, char** argv) {
  try {
    return driftgate::bench(argc > 1 && std::strcmp(argv[1], "--json") == 0);
  } catch (const driftgate::Error& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return 2;
  }
}
