#include <cstdio>
#include <exception>

#include "command.hpp"
#include "error.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

int parse_and_run(int argc, char** argv, const Addition& addition) {
  CLI::App app("driftgate decides whether a torch device may be used for training, inference or preprocessing");
  app.set_version_flag("--version", std::string(kVersion) + " (" + std::string(kCommit) + ")");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 sound and nothing failed, 1 drift or refused, 2 usage or corrupt data, 3 inconclusive, 77 skipped.\n"
             "Example: driftgate run --device mps --out evidence && driftgate decide evidence");
  Run run;
  const std::string program = std::filesystem::absolute(argv[0]).string();
  add_list(app, run);
  add_run(app, run, program, addition);
  add_worker(app, run, addition);
  add_judge(app, run);
  add_decide(app, run);
  add_report(app, run);
  add_explain(app, run);
  add_golden(app, run, program);
  add_mutants(app, run);
  add_measure(app, run);
  add_docs(app, run);
  add_coverage(app, run);
  add_doctor(app, run, addition);
  add_trace(app, run, addition);
  add_edges(app, run, addition);
  add_pt2(app, run, addition);
  addition.add_commands(app, run, program);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kSound : kUsage;
  }
  return run();
}

}  // namespace

int run_command_line(int argc, char** argv, const Addition& addition) {
  try {
    return parse_and_run(argc, argv, addition);
  } catch (const Error& error) {
    std::fprintf(stderr, "driftgate: %s\n", error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "driftgate: %s\n", error.what());
  }
  return kUsage;
}

}  // namespace driftgate
