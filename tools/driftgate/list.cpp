#include <cstdio>

#include "command.hpp"
#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

struct List {
  Common common;
  Selection selection;
  bool count = false, json = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    std::int64_t found = 0;
    std::string text;
    Json ids = Json::array();
    suite.for_each(selection.filter(), [&](const Case& c) {
      ++found;
      if (count) return;
      if (json) ids.push_back(c.id());
      else text.append(c.id()).push_back('\n');
    });
    if (json) text = Json{{"schema", "driftgate.list/1"}, {"count", found}, {"cases", ids}}.dump() + "\n";
    else if (count) text = std::to_string(found) + "\n";
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (found == 0) throw Error("usage", "list", "no case matches", "see `driftgate list` without a filter");
    return kSound;
  }
};

}  // namespace

void add_list(CLI::App& app, Run& run) {
  auto options = std::make_shared<List>();
  CLI::App* command = app.add_subcommand("list", "print case ids without running them");
  options->common.add_to(*command);
  options->selection.add_to(*command);
  command->add_flag("--count", options->count, "only how many");
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Example: driftgate list 'softmax*' --policy fp16");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
