#pragma once
// The command line: one small file a subcommand, each adding itself to the app and returning its exit code.
#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "device/device.hpp"
#include "judge/decision.hpp"

namespace driftgate {

inline constexpr int kSound = 0, kDrift = 1, kUsage = 2, kInconclusive = 3, kSkipped = 77;

// What every command takes. The directories default to the checkout's own.
struct Common {
  std::filesystem::path cases, tolerances, golden;
  void add_to(CLI::App& command);
};

// Which cases: globs and --family, --policy, --tier, --shard.
struct Selection {
  std::vector<std::string> globs, families, policies;
  std::string tier = "standard", shard = "0/1", level = "op,model,training,preprocess";
  void add_to(CLI::App& command);
  Filter filter() const;                                // Error for an unknown policy, tier, level or shard
  Filter canonical() const;                             // the same without twins
};

// Whether this host has the device; says on stderr when it has not.
bool is_here(Device device);

// A subcommand sets the function that runs it.
using Run = std::function<int()>;

// What another program adds to this one: a device, with its options. The default adds nothing.
struct Addition {
  std::function<void(CLI::App& command)> add_options = [](CLI::App&) {};              // of the commands that run a device
  std::function<std::vector<std::string>()> options = [] { return std::vector<std::string>(); };   // as given, for the worker's command line
  std::function<Json(const std::string& device)> open = [](const std::string&) { return Json::object(); };   // before a device is used; goes into the environment
  std::function<void(CLI::App& app, Run& run, const std::string& program)> add_commands = [](CLI::App&, Run&, const std::string&) {};
};

// The whole program. Returns its exit code.
int run_command_line(int argc, char** argv, const Addition& addition = {});

void add_list(CLI::App& app, Run& run);
void add_run(CLI::App& app, Run& run, const std::string& program, const Addition& addition);
void add_worker(CLI::App& app, Run& run, const Addition& addition);
void add_judge(CLI::App& app, Run& run);
void add_decide(CLI::App& app, Run& run);
void add_report(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_golden(CLI::App& app, Run& run, const std::string& program);
void add_mutants(CLI::App& app, Run& run);
void add_measure(CLI::App& app, Run& run);
void add_docs(CLI::App& app, Run& run);
void add_coverage(CLI::App& app, Run& run);
void add_doctor(CLI::App& app, Run& run, const Addition& addition);
void add_trace(CLI::App& app, Run& run, const Addition& addition);
void add_edges(CLI::App& app, Run& run, const Addition& addition);
void add_pt2(CLI::App& app, Run& run, const Addition& addition);

// Evidence folders named on the command line, read, merged, judged.
struct EvidenceArguments {
  std::vector<std::filesystem::path> folders;
  std::filesystem::path under;                          // every evidence folder below it
  void add_to(CLI::App& command);
  std::vector<std::filesystem::path> all() const;       // sorted; may be empty
  Evidence read() const;                                // Error when there is none
};

}  // namespace driftgate
