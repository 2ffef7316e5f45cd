#include <fmt/format.h>

#include <map>

#include "command.hpp"
#include "device/device.hpp"
#include "error.hpp"
#include "json.hpp"
#include "report/coverage.hpp"
#include "run/trace.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

struct CoverageCommand {
  Common common;
  std::filesystem::path data;
  bool json = false, trace = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    if (trace) write_trace(suite);
    const Coverage coverage = coverage_of(suite, data);
    if (json) print_json(coverage);
    else print(coverage);
    return coverage.stale.empty() ? kSound : kDrift;
  }

  // For each operator that is not public, the first case of another operator that reaches it.
  void write_trace(const Suite& suite) const {
    set_numeric_flags(false);
    std::map<std::string, std::string> found;
    std::set<std::string> wanted;
    for (const CoveredOp& op : coverage_of(suite, data).ops)
      if (op.group != "public") wanted.insert(op.op);
    Filter filter;
    filter.policies = {Policy::fp32};
    filter.levels = {SuiteLevel::op};
    for (const Case& c : suite.select(filter)) {
      if (!c.compared()) continue;
      if (wanted.empty()) break;
      for (const std::string& op : traced_operators(c))
        if (op != c.op_name().substr(0, c.op_name().find('.')) && wanted.erase(op) > 0) found.emplace(op, c.id());
    }
    std::string text = "op\tcase\n";
    for (const auto& [op, id] : found) text += op + "\t" + id + "\n";
    write_text(data / "coverage_reached.tsv", text);
  }

  static void print(const Coverage& coverage) {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> families;
    for (const CoveredOp& op : coverage.ops) {
      families[op.family].first += op.how != Covered::missing;
      ++families[op.family].second;
    }
    for (const auto& [family, counts] : families) fmt::print("{:<20} {:>4} of {:>4}\n", family, counts.first, counts.second);
    for (const CoveredOp& op : coverage.ops)
      if (op.how == Covered::missing) fmt::print("missing {}: {}\n", op.op, op.reason.empty() ? "no reason is given" : op.reason);
    for (const std::string& stale : coverage.stale) fmt::print("stale {}\n", stale);
    fmt::print("{} of {} base operators with an MPS kernel ({:.1f} %): {} called, {} reached, {} on the device only\n", coverage.covered(),
               coverage.ops.size(), 100 * coverage.share(), coverage.count(Covered::called), coverage.count(Covered::reached),
               coverage.count(Covered::device_only));
  }

  static void print_json(const Coverage& coverage) {
    Json missing = Json::array();
    for (const CoveredOp& op : coverage.ops)
      if (op.how == Covered::missing) missing.push_back(Json{{"op", op.op}, {"reason", op.reason}});
    fmt::print("{}\n", Json{{"schema", "driftgate.coverage/1"}, {"target", coverage.ops.size()}, {"covered", coverage.covered()}, {"share", coverage.share()},
                            {"missing", missing}, {"stale", coverage.stale}}.dump());
  }
};

}  // namespace

void add_coverage(CLI::App& app, Run& run) {
  auto options = std::make_shared<CoverageCommand>();
  options->data = std::filesystem::path(std::string(kSourceDir)) / "data";
  CLI::App* command = app.add_subcommand("coverage", "print which of the operators that have an MPS kernel the suite covers");
  options->common.add_to(*command);
  command->add_option("--data", options->data, "directory of the target, the trace and the reasons");
  command->add_flag("--json", options->json, "one JSON object");
  command->add_flag("--trace", options->trace, "first trace the suite on the CPU and write coverage_reached.tsv");
  command->footer("Example: driftgate coverage --json");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
