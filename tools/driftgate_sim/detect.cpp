#include <array>
#include <cstdio>
#include <map>
#include <thread>

#include "error.hpp"
#include "run/golden.hpp"
#include "sim/detection.hpp"
#include "sim/detection_worker.hpp"
#include "simulated.hpp"
#include "tensor/digest.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

Json to_json(const Detection& detection) {
  Json faults = Json::array();
  for (const FaultResult& result : detection.faults)
    faults.push_back({{"name", result.fault.name}, {"class", result.fault.klass}, {"state", name(result.state)}, {"by", result.by}});
  return {{"schema", "driftgate.detect/1"},
          {"faults", std::move(faults)},
          {"caught", detection.count(Detected::caught)},
          {"missed", detection.count(Detected::missed)},
          {"not_exercised", detection.count(Detected::not_exercised)},
          {"control_alarms", detection.control_alarms.size()},
          {"control_alarm_cases", detection.control_alarms}};
}

void print_line(const std::string& label, std::int64_t caught, std::int64_t missed, std::int64_t not_exercised) {
  std::printf("  %-36s %4lld caught %4lld missed %4lld not exercised\n", label.c_str(), static_cast<long long>(caught),
              static_cast<long long>(missed), static_cast<long long>(not_exercised));
}

void print(const Detection& detection) {
  for (const FaultResult& result : detection.faults)
    std::printf("%-14s %-44s %s\n", std::string(name(result.state)).c_str(), result.fault.name.c_str(),
                result.by.empty() ? "" : result.by.front().c_str());
  std::map<std::string, std::array<std::int64_t, 3>> classes;
  for (const FaultResult& result : detection.faults) ++classes[result.fault.klass][static_cast<std::size_t>(result.state)];
  std::printf("\n");
  for (const auto& [klass, counts] : classes) print_line(klass.empty() ? "(no class)" : klass, counts[0], counts[1], counts[2]);
  print_line("all", detection.count(Detected::caught), detection.count(Detected::missed), detection.count(Detected::not_exercised));
  std::printf("  %zu control alarms\n", detection.control_alarms.size());
  for (const std::string& id : detection.control_alarms) std::printf("    %s\n", id.c_str());
}

struct Detect {
  Common common;
  Selection selection;
  SimulatedOptions simulated;
  std::string program;
  std::filesystem::path out;
  int jobs = 0;
  double timeout = 20;
  bool json = false;

  int run() const {
    const std::vector<Fault> faults = read_faults(simulated.faults);
    const Suite suite = Suite::load(common.cases);
    DetectOptions options;
    suite.for_each(selection.filter(), [&](const Case& c) { options.plan.push_back(c.id()); });
    if (options.plan.empty()) throw Error("usage", "detect", "no case matches", "see `driftgate list`");
    options.out = out;
    options.timeout_seconds = timeout;
    options.jobs = jobs > 0 ? jobs : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    options.worker = {program, {"detect-worker", "--faults", std::filesystem::absolute(simulated.faults).string(), "--cases", common.cases.string(),
                                "--tolerances", common.tolerances.string()}};
    const auto golden = find_golden_set(common.golden);
    if (golden) options.worker.arguments.insert(options.worker.arguments.end(), {"--golden", golden->string()});
    for (const std::string& argument : simulated.profile_arguments()) options.worker.arguments.push_back(argument);
    options.key = std::string(kVersion) + " " + std::string(kCommit) + hex(digest(read_text(simulated.faults)));
    for (const std::string& argument : options.worker.arguments) options.key += " " + argument;
    const Detection detection = detect(options, faults);
    const Json result = to_json(detection);
    write_text(out / "detect.json", result.dump(2) + "\n");
    if (json) std::printf("%s\n", result.dump(2).c_str());
    else print(detection);
    return detection.count(Detected::missed) == 0 && detection.control_alarms.empty() ? kSound : kDrift;
  }
};

struct DetectWorker {
  WorkerOptions options;
  SimulatedOptions simulated;
  std::string golden;

  int run() {
    options.device = Device::sim;
    if (!golden.empty()) options.golden = golden;
    open_simulated_device(simulated.simulation);
    return work_on_faults(options, read_faults(simulated.faults));
  }
};

}  // namespace

void add_detect(CLI::App& app, Run& run, const std::string& program) {
  auto options = std::make_shared<Detect>();
  options->program = program;
  CLI::App* command = app.add_subcommand("detect", "plant each fault alone in the simulated device, and say which the suite catches");
  options->common.add_to(*command);
  options->selection.add_to(*command);
  options->simulated.add_profile_to(*command);
  command->add_option("--faults", options->simulated.faults, "the file of faults")->required();
  command->add_option("--out", options->out, "folder for the index and the result")->required();
  command->add_option("--jobs", options->jobs, "worker processes (default: the cores)");
  command->add_option("--timeout", options->timeout, "seconds after which a case counts as hung");
  command->add_flag("--json", options->json, "one JSON object");
  command->footer("Exit code 0: no exercised fault was missed and the control run raised no alarm; else 1.\n"
                  "Example: driftgate_sim detect --faults tests/detects/smoke.json --out build/detect 'mm' 'softmax*'");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

void add_detect_worker(CLI::App& app, Run& run) {
  auto options = std::make_shared<DetectWorker>();
  CLI::App* command = app.add_subcommand("detect-worker", "the process in which `detect` executes cases")->group("");
  options->simulated.add_profile_to(*command);
  command->add_option("--faults", options->simulated.faults)->required();
  command->add_option("--cases", options->options.cases)->required();
  command->add_option("--tolerances", options->options.tolerances)->required();
  command->add_option("--golden", options->golden);
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
