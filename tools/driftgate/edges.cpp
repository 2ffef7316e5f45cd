#include <cstdio>

#include "command.hpp"
#include "device/device.hpp"
#include "error.hpp"
#include "json.hpp"
#include "run/edges.hpp"
#include "run/environment.hpp"

namespace driftgate {
namespace {

struct Edges {
  Common common;
  Selection selection;
  std::string device = "cpu";
  Addition addition;
  bool json = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances);
    Filter filter = selection.filter();
    filter.levels = {SuiteLevel::op};
    const std::vector<Case> cases = suite.select(filter);
    if (cases.empty()) throw Error("usage", "edges", "no case matches", "see `driftgate list`");
    const Device where = parse_device(device);
    addition.open(device);
    if (!is_here(where)) return kInconclusive;
    open_device(where, false);
    const auto path = find_golden_set(common.golden);
    std::optional<GoldenSet> golden;
    if (path) golden = GoldenSet::open(*path);
    std::int64_t failing = 0;
    Json found = Json::array();
    for (const Case& c : cases) {
      const auto edges = find_edges(c, table.row_for(c), where, golden ? &*golden : nullptr);
      if (!edges) continue;
      ++failing;
      if (edges->empty() && !json) std::printf("%s  no other size is valid\n", c.id().c_str());
      for (const Edge& edge : *edges) {
        if (!json) std::printf("%s  %s\n", c.id().c_str(), to_string(edge).c_str());
        found.push_back({{"id", c.id()}, {"where", edge.where}, {"extent", edge.extent}, {"wrong_from", edge.wrong_from},
                         {"right_up_to", edge.right_up_to ? Json(*edge.right_up_to) : Json()}});
      }
    }
    if (json) std::printf("%s\n", Json{{"schema", "driftgate.edges/1"}, {"looked_at", cases.size()}, {"failing", failing}, {"edges", found}}.dump().c_str());
    else std::printf("%lld of %zu cases fail\n", static_cast<long long>(failing), cases.size());
    return failing > 0 ? kDrift : kSound;
  }
};

}  // namespace

void add_edges(CLI::App& app, Run& run, const Addition& addition) {
  auto options = std::make_shared<Edges>();
  options->addition = addition;
  CLI::App* command = app.add_subcommand("edges", "find the size at which a failing case begins to fail");
  options->common.add_to(*command);
  options->selection.add_to(*command);
  command->add_option("--device", options->device, "cpu, mps or cuda")->required();
  addition.add_options(*command);
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Example: driftgate edges --device mps 'bmm/batch17/fp32/forward/canonical'");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
