#include <cstdio>

#include "command.hpp"
#include "json.hpp"
#include "report/coverage.hpp"
#include "report/table_doc.hpp"
#include "run/environment.hpp"
#include "run/forms_maker.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

struct Docs {
  Common common;
  std::filesystem::path out = "docs", data = std::filesystem::path(std::string(kSourceDir)) / "data";

  bool forms = false;

  int run() const {
    const Suite suite = Suite::load(common.cases);
    write_text(out / "tolerances.md", tolerance_document(ToleranceTable::load(common.tolerances), suite));
    write_text(out / "coverage.md", coverage_document(coverage_of(suite, data)));
    std::printf("%s\n%s\n", (out / "tolerances.md").c_str(), (out / "coverage.md").c_str());
    if (!forms) return kSound;
    Filter every = Filter::canonical();
    open_device(Device::cpu, false);
    every.tier = SuiteTier::full;
    every.levels = {SuiteLevel::op};
    write_text(common.cases / kFormsFile, to_text(make_forms(suite, every)));
    std::printf("%s\n", (common.cases / kFormsFile).c_str());
    return kSound;
  }
};

}  // namespace

void add_docs(CLI::App& app, Run& run) {
  auto options = std::make_shared<Docs>();
  CLI::App* command = app.add_subcommand("docs", "write the generated tables");
  options->common.add_to(*command);
  command->add_option("--out", options->out, "directory of the documents");
  command->add_flag("--forms", options->forms, "try every road of every operator on the CPU too (minutes): forms.tsv beside the specs");
  command->footer("Example: driftgate docs --out docs");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
