#include <cstdio>

#include "command.hpp"
#include "error.hpp"
#include "report/console.hpp"
#include "report/json.hpp"
#include "report/junit.hpp"
#include "report/markdown.hpp"

namespace driftgate {
namespace {

struct ReportCommand {
  Common common;
  EvidenceArguments evidence;
  std::string profile = "standard";
  std::vector<std::string> formats = {"console"};
  std::filesystem::path out;

  int run() const {
    if (evidence.folders.empty() && !evidence.under.empty() && evidence.all().empty()) {
      std::fprintf(stderr, "driftgate: no evidence below %s; nothing to report\n", evidence.under.c_str());
      return kSkipped;
    }
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances, profile);
    const JudgedRun judged = judge(evidence.read(), suite, table);
    const Report report{judged, decide(judged, suite, DecisionRules::load(common.tolerances / "decision.json"))};
    for (const std::string& format : formats) {
      if (format == "console") std::fputs(to_console(report).c_str(), stdout);
      else if (format == "json") write("report.json", to_json(report));
      else if (format == "md") write("report.md", to_markdown(report));
      else if (format == "junit") write("junit.xml", to_junit(report));
      else throw Error("usage", "--format", "'" + format + "' is not a format", "use console, json, md or junit");
    }
    return exit_code(judged, report.decisions, std::nullopt);
  }

  void write(const char* file, const std::string& text) const {
    if (out.empty()) throw Error("usage", "--out", std::string(file) + " needs a directory");
    std::filesystem::create_directories(out);
    write_text(out / file, text);
  }
};

}  // namespace

void add_report(CLI::App& app, Run& run) {
  auto options = std::make_shared<ReportCommand>();
  CLI::App* command = app.add_subcommand("report", "render judgements and decision");
  options->common.add_to(*command);
  options->evidence.add_to(*command);
  command->add_option("--profile", options->profile, "how strictly models are judged: strict, standard or relaxed");
  command->add_option("--format", options->formats, "console, json, md, junit")->delimiter(',')->allow_extra_args(false);
  command->add_option("--out", options->out, "directory of report.json, report.md and junit.xml");
  command->footer("Example: driftgate report evidence --format console,json,md,junit --out report");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
