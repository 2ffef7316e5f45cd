#include <cstdio>
#include <set>

#include "command.hpp"
#include "device/device.hpp"
#include "error.hpp"
#include "json.hpp"
#include "run/environment.hpp"
#include "run/golden_export.hpp"
#include "run/golden_join.hpp"
#include "run/worker_process.hpp"
#include "version.hpp"

namespace driftgate {
namespace {

struct Golden {
  Common common;
  Selection selection;
  std::string device = "cuda", program;
  std::filesystem::path out, first, second;
  std::vector<std::filesystem::path> parts;

  std::vector<Case> cases(const Suite& suite) const {
    std::vector<Case> chosen = suite.select(selection.canonical());
    std::erase_if(chosen, [](const Case& c) { return !c.compared(); });
    if (chosen.empty()) throw Error("usage", "golden", "no case matches", "see `driftgate list`");
    return chosen;
  }

  GoldenSet open_default() const {
    const auto found = find_golden_set(common.golden);
    if (!found) throw Error("no_golden", common.golden.string(), "there is no golden set", "make one with `driftgate golden export` on a CUDA machine");
    return GoldenSet::open(*found);
  }

  int export_set() const {
    if (device != "cuda" || !available(Device::cuda))
      throw Error("not_cuda", "--device " + device, "goldens come only from a real CUDA card", "run this on a machine that has one");
    const Suite suite = Suite::load(common.cases);
    const std::vector<Case> chosen = cases(suite);
    Json provenance = open_device(Device::cuda, false);
    GoldenExport made = make_goldens(Device::cuda, chosen, [](std::size_t done, std::size_t total) {
      if (done % 200 == 0) std::fprintf(stderr, "%zu of %zu cases\n", done, total);
    });
    provenance["driftgate"] = std::string(kVersion) + " " + std::string(kCommit);
    provenance["torch_commit"] = kTorchCommit;
    provenance["runs"] = 4;
    provenance["processes"] = 2;
    provenance["unsupported"] = made.unsupported;
    const std::filesystem::path part = out.string() + ".part";
    remove_tree(part);
    write_golden_set(part, provenance, made.content);
    add_repeats(made.content, repeats_of_second_process(part));
    remove_tree(part);
    write_golden_set(part, provenance, made.content);
    return replace(part, made.unsupported.size());
  }

  std::vector<Repeat> repeats_of_second_process(const std::filesystem::path& part) const {
    std::vector<std::string> arguments = {"golden", "repeat", "--cases", common.cases.string(), "--golden", part.string()};
    arguments.insert(arguments.end(), selection.globs.begin(), selection.globs.end());
    for (const std::string& family : selection.families) arguments.insert(arguments.end(), {"--family", family});
    for (const std::string& policy : selection.policies) arguments.insert(arguments.end(), {"--policy", policy});
    arguments.insert(arguments.end(), {"--tier", selection.tier, "--level", selection.level});
    WorkerProcess process({program, arguments}, out.string() + ".repeat.log");
    std::vector<Repeat> repeats;
    while (process.receive())
      while (const auto line = process.next_line()) {
        const Json object = parse_json(*line, "golden repeat");
        Repeat repeat{object["id"].get<std::string>(), {}};
        for (const auto& [output, spread] : object["spread"].items()) repeat.spread[output] = as_number(spread, "golden repeat");
        repeats.push_back(std::move(repeat));
      }
    if (const std::string how = process.wait(); how != "exit 0")
      throw Error("worker_failed", program, "the second process ended with " + how, "see " + out.string() + ".repeat.log");
    std::filesystem::remove(out.string() + ".repeat.log");
    return repeats;
  }

  int replace(const std::filesystem::path& part, std::size_t unsupported) const {
    const GoldenSet made = GoldenSet::open(part);
    if (std::filesystem::exists(out / "manifest.json")) {
      const GoldenDifference moved = difference(GoldenSet::open(out), made);
      if (moved.empty()) {
        std::printf("%s: up to date\n", out.c_str());
        remove_tree(part);
        return kSound;
      }
      print(moved, out.string(), "this export");
    }
    const std::int64_t count = made.manifest()["cases"].get<std::int64_t>();
    remove_tree(out);
    std::filesystem::rename(part, out);
    std::printf("%s: %lld cases, %zu that the card cannot run\n", out.c_str(), static_cast<long long>(count), unsupported);
    return kSound;
  }

  int join() const {
    const Suite suite = Suite::load(common.cases);
    Filter every = Filter::canonical();
    every.tier = SuiteTier::large;
    std::set<std::string> known;
    suite.for_each(every, [&](const Case& c) { known.insert(c.id()); });
    const GoldenJoin joined = join_goldens(parts, known);
    const std::filesystem::path part = out.string() + ".part";
    remove_tree(part);
    write_golden_set(part, joined.provenance, joined.content);
    return replace(part, joined.provenance["unsupported"].size());
  }

  // Not for people: the second process of an export answers on file descriptor 3.
  int repeat() const {
    open_device(Device::cuda, false);
    const Suite suite = Suite::load(common.cases);
    FILE* results = ::fdopen(3, "w");
    if (!results) throw Error("usage", "golden repeat", "only `golden export` starts this");
    for (const Repeat& repeat : repeat_goldens(Device::cuda, cases(suite), open_default())) {
      Json object{{"id", repeat.id}, {"spread", Json::object()}};
      for (const auto& [output, spread] : repeat.spread) object["spread"][output] = number(spread);
      std::fprintf(results, "%s\n", object.dump().c_str());
    }
    std::fclose(results);
    return kSound;
  }

  int verify_set() const {
    const Suite suite = Suite::load(common.cases);
    const std::vector<std::string> problems = verify(open_default(), cases(suite));
    for (const std::string& problem : problems) std::printf("%s\n", problem.c_str());
    std::printf("%zu problem%s\n", problems.size(), problems.size() == 1 ? "" : "s");
    return problems.empty() ? kSound : kDrift;
  }

  static void print(const GoldenDifference& moved, const std::string& a, const std::string& b) {
    for (const std::string& id : moved.moved) std::printf("moved      %s\n", id.c_str());
    for (const std::string& id : moved.only_first) std::printf("only in %s: %s\n", a.c_str(), id.c_str());
    for (const std::string& id : moved.only_second) std::printf("only in %s: %s\n", b.c_str(), id.c_str());
    std::printf("%zu moved, %zu only in the first, %zu only in the second\n", moved.moved.size(), moved.only_first.size(), moved.only_second.size());
  }

  int diff() const {
    const GoldenDifference moved = difference(GoldenSet::open(first), GoldenSet::open(second));
    print(moved, first.string(), second.string());
    return moved.empty() ? kSound : kDrift;
  }
};

}  // namespace

void add_golden(CLI::App& app, Run& run, const std::string& program) {
  auto options = std::make_shared<Golden>();
  options->program = program;
  CLI::App* golden = app.add_subcommand("golden", "make, check and compare golden sets");
  golden->require_subcommand(1);

  CLI::App* make = golden->add_subcommand("export", "run every case on this machine's CUDA card and write a set");
  options->common.add_to(*make);
  options->selection.add_to(*make);
  make->add_option("--device", options->device, "cuda");
  make->add_option("--out", options->out, "directory of the set: golden/<card>_<cuda>_<torch>")->required();
  make->footer("Example: driftgate golden export --out golden/h200_cu130_torch2.11.0");
  make->callback([options, &run] { run = [options] { return options->export_set(); }; });

  CLI::App* join = golden->add_subcommand("join", "make one set of parts that one card made");
  options->common.add_to(*join);
  join->add_option("parts", options->parts, "sets; a later one's case replaces an earlier one's")->required()->expected(2, 1000);
  join->add_option("--out", options->out, "directory of the set")->required();
  join->footer("Example: driftgate golden join ops/h200 training/h200 --out golden/h200_cu130_torch2.11.0");
  join->callback([options, &run] { run = [options] { return options->join(); }; });

  CLI::App* repeat = golden->add_subcommand("repeat", "the second process of export")->group("");
  options->common.add_to(*repeat);
  options->selection.add_to(*repeat);
  repeat->callback([options, &run] { run = [options] { return options->repeat(); }; });

  CLI::App* check = golden->add_subcommand("verify", "digests, schema, and that every case has a golden of the inputs made here");
  options->common.add_to(*check);
  options->selection.add_to(*check);
  check->footer("Example: driftgate golden verify");
  check->callback([options, &run] { run = [options] { return options->verify_set(); }; });

  CLI::App* diff = golden->add_subcommand("diff", "which cases moved between two sets");
  diff->add_option("first", options->first)->required();
  diff->add_option("second", options->second)->required();
  diff->footer("Example: driftgate golden diff golden/h200_cu130_torch2.11.0 golden/h200_cu130_torch2.13.0");
  diff->callback([options, &run] { run = [options] { return options->diff(); }; });
}

}  // namespace driftgate
