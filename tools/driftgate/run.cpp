#include <unistd.h>

#include <cstdio>
#include <thread>

#include "command.hpp"
#include "device/device.hpp"
#include "error.hpp"
#include "json.hpp"
#include "report/console.hpp"
#include "run/golden.hpp"
#include "run/supervisor.hpp"
#include "run/worker.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

struct RunCommand {
  Common common;
  Selection selection;
  std::string device = "cpu", program;
  std::filesystem::path out;
  int jobs = 0;
  double timeout = 120;
  bool resume = false, fresh = false, tf32 = false, judge_too = false;
  Addition addition;

  int run() const {
    const Device where = parse_device(device);
    const Suite suite = Suite::load(common.cases);
    const ToleranceTable table = ToleranceTable::load(common.tolerances);
    RunOptions options;
    std::size_t limited = 0;
    suite.for_each(selection.filter(), [&](const Case& c) {
      table.row_for(c);                                 // exactly one row a case, before anything is run
      if (suite.limited(c, device))
        ++limited;
      else
        options.plan.push_back(c.id());
    });
    if (options.plan.empty()) throw Error("usage", "run", "no case matches", "see `driftgate list`");
    const auto golden = find_golden_set(common.golden);
    if (golden) GoldenSet::open(*golden);               // a corrupt set is said at the start
    if (fresh) remove_tree(out);
    options.out = out.has_filename() ? out : out.parent_path();   // "evidence/" is "evidence"
    options.resume = resume;
    options.timeout_seconds = timeout;
    const int cores = std::max(1U, std::thread::hardware_concurrency());
    options.jobs = where == Device::cpu || where == Device::sim ? (jobs > 0 ? jobs : cores) : 1;
    options.worker = {program, {"worker", "--device", device, "--cases", common.cases.string(), "--tolerances", common.tolerances.string(),
                                "--tensors", (out / "tensors").string()}};
    if (golden) options.worker.arguments.insert(options.worker.arguments.end(), {"--golden", golden->string()});
    if (tf32) options.worker.arguments.push_back("--tf32");
    for (const std::string& argument : addition.options()) options.worker.arguments.push_back(argument);
    RunInfo header;
    header.device = device;
    header.golden = golden ? golden->filename().string() : "";
    header.tool_version = kVersion;
    const RunSummary summary = supervise(options, header);
    if (!summary.available) {
      std::fprintf(stderr, "driftgate: there is no %s device on this host; nothing was run\n", device.c_str());
      return judge_too ? kSkipped : kInconclusive;
    }
    print(summary, options.jobs);
    if (limited > 0) std::printf("%zu more cases were not planned: %s names them as beyond %s, each with its reason\n", limited, std::string(kDeviceLimitsFile).c_str(), device.c_str());
    return judge_too ? judge_it(suite, table) : kSound;
  }

  void print(const RunSummary& summary, int workers) const {
    const auto& p = summary.phase_seconds;
    std::printf("%s: %lld planned, %lld executed now, %lld kept from before, %lld worker restarts, %.1f s with %d worker%s\n", out.c_str(),
                static_cast<long long>(summary.run.planned), static_cast<long long>(summary.executed), static_cast<long long>(summary.resumed),
                static_cast<long long>(summary.restarts), summary.seconds, workers, workers == 1 ? "" : "s");
    std::printf("phases: fill %.2f s, reference %.2f s, run %.2f s, compare %.2f s, write %.2f s\n", p[0], p[1], p[2], p[3], p[4]);
  }

  int judge_it(const Suite& suite, const ToleranceTable& table) const {
    const JudgedRun judged = judge(read_evidence(out), suite, table);
    std::fputs(to_console({judged, {}}).c_str(), stdout);
    return exit_code(judged, {}, std::nullopt);
  }
};

struct WorkerCommandLine {
  WorkerOptions options;
  std::string device = "cpu", golden;
};

}  // namespace

void add_run(CLI::App& app, Run& run, const std::string& program, const Addition& addition) {
  auto options = std::make_shared<RunCommand>();
  options->program = program;
  options->addition = addition;
  CLI::App* command = app.add_subcommand("run", "run cases on a device and write evidence");
  options->common.add_to(*command);
  options->selection.add_to(*command);
  command->add_option("--device", options->device, "cpu, mps or cuda")->required();
  command->add_option("--out", options->out, "the evidence folder")->required();
  command->add_option("--jobs", options->jobs, "worker processes (not on accelerators; default: the cores)");
  command->add_option("--timeout", options->timeout, "seconds after which a case counts as hung");
  CLI::Option* resume = command->add_flag("--resume", options->resume, "keep the cases that --out already has");
  command->add_flag("--fresh", options->fresh, "remove what --out already has")->excludes(resume);
  command->add_flag("--tf32", options->tf32, "allow TF32: shows that the suite notices");
  command->add_flag("--judge", options->judge_too, "judge what was run; exit 77 when the device is absent");
  addition.add_options(*command);
  command->footer("Example: driftgate run --device mps --out evidence 'conv2d*' --policy fp32");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

void add_worker(CLI::App& app, Run& run, const Addition& addition) {
  auto line = std::make_shared<WorkerCommandLine>();
  CLI::App* command = app.add_subcommand("worker", "the process in which `run` executes cases")->group("");
  command->add_option("--device", line->device)->required();
  command->add_option("--cases", line->options.cases)->required();
  command->add_option("--tolerances", line->options.tolerances)->required();
  command->add_option("--golden", line->golden);
  command->add_option("--tensors", line->options.tensors);
  command->add_flag("--tf32", line->options.tf32);
  addition.add_options(*command);
  command->callback([line, addition, &run] {
    run = [line, addition] {
      line->options.device = parse_device(line->device);
      line->options.facts = addition.open(line->device);
      if (!line->golden.empty()) line->options.golden = line->golden;
      return work(line->options);
    };
  });
}

}  // namespace driftgate
