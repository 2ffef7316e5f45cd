#include <cstdio>

#include "command.hpp"
#include "json.hpp"
#include "report/table_doc.hpp"
#include "run/environment.hpp"
#include "run/forms_maker.hpp"

namespace driftgate {
namespace {

struct Docs {
  Common common;
  std::filesystem::path out = "docs";

  int run() const {
    open_device(Device::cpu, false);
    write_text(out / "tolerances.md", tolerance_document(ToleranceTable::load(common.tolerances), Suite::load(common.cases)));
    const Suite suite = Suite::load(common.cases);
    Filter every = Filter::canonical();
    every.tier = SuiteTier::full;
    write_text(common.cases / kFormsFile, to_text(make_forms(suite, every)));
    std::printf("%s\n%s\n", (out / "tolerances.md").c_str(), (common.cases / kFormsFile).c_str());
    return kSound;
  }
};

}  // namespace

void add_docs(CLI::App& app, Run& run) {
  auto options = std::make_shared<Docs>();
  CLI::App* command = app.add_subcommand("docs", "write the generated tables");
  options->common.add_to(*command);
  command->add_option("--out", options->out, "directory of the documents");
  command->footer("Example: driftgate docs --out docs");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
