#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <map>

#include "command.hpp"
#include "error.hpp"
#include "json.hpp"
#include "judge/table_edit.hpp"

namespace driftgate {
namespace {

struct Largest {
  double value = 0;
  std::string witness;
};
struct RowMeasure {
  std::map<std::string, Largest> by_device;
  Largest overall;
};

// "cpu_avx2_torch2.13.0", "cuda_torch2.11.0", "sim_metal_like_torch2.13.0": the names under which a row keeps what was measured.
std::string label(const RunInfo& run) {
  std::string text = run.device;
  if (run.device == "cpu") {
    std::string capability = run.environment.value("cpu_capability", "");
    for (char& c : capability) c = static_cast<char>(std::tolower(c));
    text += "_" + capability;
  }
  if (const std::string profile = run.environment.value("profile", ""); !profile.empty()) text += "_" + profile;
  if (run.environment.value("ln_onepass", false)) text += "_ln_onepass";
  if (const std::string tile = run.environment.value("winograd", "none"); tile != "none") text += "_winograd_" + tile;
  return text + "_torch" + run.environment.value("torch", "");
}

struct Measure {
  Common common;
  std::vector<std::filesystem::path> folders;
  bool update = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances);
    std::map<std::string, RowMeasure> rows;
    for (const auto& folder : folders) {
      const JudgedRun judged = judge(read_evidence(folder), suite, table);
      const std::string device = label(judged.run);
      for (const Judgement& judgement : judged.judgements) add(judgement, device, rows);
    }
    for (const ToleranceRow& row : table.rows()) print(row, rows[row.name]);
    for (const auto& [name, row] : rows)
      if (update && !std::isfinite(row.overall.value))
        throw Error("bad_evidence", row.overall.witness, "it needs an infinite limit: a device with such a result is no measure of a limit",
                    "leave its evidence out, or measure without --update");
    if (update)
      edit_rows(common.tolerances, [&](const std::string& name, Json& object) {
        const RowMeasure& found = rows[name];
        if (found.by_device.empty()) return;
        Json measured = Json::object();
        for (const auto& [device, largest] : found.by_device) measured[device] = rounded(largest.value);
        for (const auto& [device, value] : object["measured"].items())
          if (!measured.contains(device)) measured[device] = value;
        object["measured"] = measured;
        object["witness"] = found.overall.witness;
      });
    return kSound;
  }

  // In the units of the row's own tier. Cases that a loose golden lowered to the loose tier say nothing about a strict limit, and untrusted
  // ones (where it is the golden or its card that is wrong) nothing at all.
  static void add(const Judgement& judgement, const std::string& device, std::map<std::string, RowMeasure>& rows) {
    if (!judgement.row || judgement.state == State::untrusted || std::isnan(judgement.required) || judgement.asked != judgement.row->tier) return;
    const double scale = judgement.row->limit_at(Tier::loose, judgement.policy) / judgement.row->loose_limit;
    const double value = judgement.asked == Tier::loose ? judgement.required / scale : judgement.required;
    RowMeasure& row = rows[judgement.row->name];
    for (Largest* largest : {&row.by_device[device], &row.overall})
      if (largest->witness.empty() || value > largest->value) *largest = {value, judgement.id};
  }

  static double rounded(double value) { return std::strtod(fmt::format("{:.3g}", value).c_str(), nullptr); }

  static void print(const ToleranceRow& row, const RowMeasure& found) {
    const double limit = row.tier == Tier::loose ? row.loose_limit : row.limit;
    if (found.by_device.empty()) {
      fmt::print("{:<36} limit {:<8.3g} not measured\n", row.name, limit);
      return;
    }
    fmt::print("{:<36} limit {:<8.3g} largest {:<10.3g} headroom {:<8.3g} {}\n", row.name, limit, found.overall.value,
               found.overall.value > 0 ? limit / found.overall.value : std::numeric_limits<double>::infinity(), found.overall.witness);
    for (const auto& [device, largest] : found.by_device) fmt::print("    {:<32} {:<10.3g} {}\n", device, largest.value, largest.witness);
  }
};

}  // namespace

void add_measure(CLI::App& app, Run& run) {
  auto options = std::make_shared<Measure>();
  CLI::App* command = app.add_subcommand("measure", "the largest `required` of every row in evidence of correct devices, and its headroom");
  options->common.add_to(*command);
  command->add_option("evidence", options->folders, "evidence folders, of one device or several")->required();
  command->add_flag("--update", options->update, "write measured and witness into the table");
  command->footer("Example: driftgate measure build/evidence/cpu_avx2 build/evidence/h200");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
