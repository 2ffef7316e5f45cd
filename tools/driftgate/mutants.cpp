#include <fmt/format.h>

#include <cstdio>

#include "command.hpp"
#include "device/device.hpp"
#include "json.hpp"
#include "judge/table_edit.hpp"
#include "run/mutation.hpp"

namespace driftgate {
namespace {

struct Mutants {
  Common common;
  Selection selection;
  bool json = false, update = false;

  int run() const {
    set_numeric_flags(false);
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances);
    const std::vector<RowMutation> rows = mutate_rows(suite.select(selection.canonical()), table, [](std::size_t done, std::size_t total) {
      if (done % 500 == 0) fmt::print(stderr, "{} of {} cases\n", done, total);
    });
    std::int64_t applied = 0, rejected = 0, blunt = 0;
    for (const RowMutation& row : rows) {
      applied += row.applied;
      rejected += row.rejected;
      blunt += row.blunt();
    }
    const double rate = applied == 0 ? 0 : static_cast<double>(rejected) / static_cast<double>(applied);
    if (json) print_json(rows, applied, rejected, rate);
    else print(rows, applied, rejected, blunt, rate);
    if (update)
      edit_rows(common.tolerances, [&](const std::string& name, Json& object) {
        for (const RowMutation& row : rows)
          if (row.row == name) {
            object["kill_rate"] = std::round(row.kill_rate() * 1000) / 1000;
            object["blunt"] = row.blunt();
          }
      });
    return applied > 0 ? kSound : kInconclusive;
  }

  static void print(const std::vector<RowMutation>& rows, std::int64_t applied, std::int64_t rejected, std::int64_t blunt, double rate) {
    for (const RowMutation& row : rows) {
      fmt::print("{:<36} {:>6} applied {:>6} rejected  {:.3f}{}\n", row.row, row.applied, row.rejected, row.kill_rate(), row.blunt() ? "  blunt" : "");
      for (std::size_t i = 0; i < row.survivors.size() && i < 3; ++i) fmt::print("    survives: {}\n", row.survivors[i]);
      if (row.survivors.size() > 3) fmt::print("    and {} more\n", row.survivors.size() - 3);
    }
    fmt::print("{} mutants applied, {} rejected ({:.2f} %), {} of {} rows blunt\n", applied, rejected, 100 * rate, blunt, rows.size());
  }

  static void print_json(const std::vector<RowMutation>& rows, std::int64_t applied, std::int64_t rejected, double rate) {
    Json list = Json::array();
    for (const RowMutation& row : rows)
      list.push_back(Json{{"row", row.row}, {"family", row.families}, {"cases", row.cases}, {"applied", row.applied}, {"rejected", row.rejected},
                          {"lower_applied", row.lower_applied}, {"lower_rejected", row.lower_rejected}, {"blunt", row.blunt()}, {"survivors", row.survivors}});
    fmt::print("{}\n", Json{{"schema", "driftgate.mutants/1"}, {"rows", list}, {"applied", applied}, {"rejected", rejected}, {"kill_rate", rate}}.dump());
  }
};

}  // namespace

void add_mutants(CLI::App& app, Run& run) {
  auto options = std::make_shared<Mutants>();
  CLI::App* command = app.add_subcommand("mutants", "the kill rate of every row of the tolerance table");
  options->common.add_to(*command);
  options->selection.add_to(*command);
  command->add_flag("--json", options->json, "one JSON object");
  command->add_flag("--update", options->update, "write kill_rate and blunt into the table (after a run over all cases)");
  command->footer("Example: driftgate mutants 'mm' 'bmm'");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
