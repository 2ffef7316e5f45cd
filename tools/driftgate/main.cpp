// driftgate: may this device be used for training, inference, preprocessing, or not at all?
#include <cstdio>
#include <exception>

#include "command.hpp"
#include "error.hpp"
#include "version.hpp"

namespace {

int run_command_line(int argc, char** argv) {
  using namespace driftgate;
  CLI::App app("driftgate decides whether a torch device may be used for training, inference or preprocessing");
  app.set_version_flag("--version", std::string(kVersion) + " (" + std::string(kCommit) + ")");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 sound and nothing failed, 1 drift or refused, 2 usage or corrupt data, 3 inconclusive, 77 skipped.\n"
             "Example: driftgate run --device mps --out evidence && driftgate decide evidence");
  Run run;
  const std::string program = std::filesystem::absolute(argv[0]).string();
  add_list(app, run);
  add_run(app, run, program);
  add_worker(app, run);
  add_judge(app, run);
  add_decide(app, run);
  add_report(app, run);
  add_explain(app, run);
  add_golden(app, run, program);
  add_mutants(app, run);
  add_measure(app, run);
  add_docs(app, run);
  add_coverage(app, run);
  add_doctor(app, run);
  add_edges(app, run);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSound : kUsage;
  }
  return run();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const driftgate::Error& error) {
    std::fprintf(stderr, "driftgate: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "driftgate: %s\n", error.what());
  }
  return driftgate::kUsage;
}
