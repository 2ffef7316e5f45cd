#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "command.hpp"
#include "error.hpp"
#include "pt2/divergence.hpp"
#include "tensor/safetensors.hpp"

namespace driftgate {
namespace {

constexpr std::size_t kShown = 5;

struct Pt2Command {
  std::filesystem::path file, save;
  std::string device = "cpu";
  bool json = false;
  Addition addition;

  int run() const {
    const Device where = parse_device(device);
    const ExportedProgram program = read_exported(file);
    addition.open(device);
    if (!is_here(where)) return kInconclusive;
    set_numeric_flags(false);
    const Divergence divergence = find_divergence(program, where, [](std::size_t done, std::size_t total) {
      if (done % 50 == 49) std::fprintf(stderr, "%zu of %zu nodes\n", done + 1, total);
    });
    if (divergence.nodes.empty()) throw Error("bad_program", program.where, "no node makes a tensor: nothing was compared");
    if (!save.empty()) write_safetensors(save, {divergence.values, {}});
    if (json) print_json(program, divergence);
    else print(program, divergence);
    return divergence.agrees() ? kSound : kDrift;
  }

  void print_json(const ExportedProgram& program, const Divergence& divergence) const {
    Json document{{"schema", "driftgate.pt2/1"}, {"program", program.where}, {"torch", program.torch_version}, {"device", device}};
    document.update(to_json(divergence));
    fmt::print("{}\n", document.dump());
  }

  static void print(const NodeResult& node) {
    fmt::print("  {:<10} {:>9.3g} / {:<8.3g} cpu {:<9.3g} {} ({}){}{}{}\n", node.agrees() ? "agrees" : node.problem, node.required, node.limit, node.cpu_required, node.node,
               node.target, node.layer.empty() ? "" : " in " + node.layer, node.dtype.empty() ? "" : " " + node.dtype, node.message.empty() ? "" : ": " + node.message);
  }

  void print(const ExportedProgram& program, const Divergence& divergence) const {
    fmt::print("{} · exported by torch {} · {} against fp64 on the CPU, node by node\n", program.where, program.torch_version, device);
    const auto diverging = std::count_if(divergence.nodes.begin(), divergence.nodes.end(), [](const NodeResult& node) { return !node.agrees(); });
    fmt::print("{} nodes compared, {} diverge\n", divergence.nodes.size(), diverging);
    if (const NodeResult* first = divergence.first()) {
      fmt::print("first divergence (required / limit)\n");
      print(*first);
    }
    std::vector<NodeResult> worst = divergence.nodes;
    std::stable_sort(worst.begin(), worst.end(), [](const NodeResult& a, const NodeResult& b) { return a.required * b.limit > b.required * a.limit; });
    worst.resize(std::min(worst.size(), kShown));
    fmt::print("worst nodes\n");
    for (const NodeResult& node : worst) print(node);
    if (divergence.outputs.empty()) fmt::print("the device did not reach the outputs\n");
    for (const EndResult& end : divergence.outputs)
      fmt::print("output {}: relative RMS error {:.3g}, largest error {:.3g}{}\n", end.output, end.relative_rms, end.max_error,
                 end.finite ? "" : ", and not finite where the reference is, or of another shape");
  }
};

}  // namespace

void add_pt2(CLI::App& app, Run& run, const Addition& addition) {
  auto options = std::make_shared<Pt2Command>();
  options->addition = addition;
  CLI::App* command = app.add_subcommand("pt2", "run an exported program (torch.export.save) node by node; the first node that diverges is named");
  command->add_option("file", options->file, "the .pt2 archive")->required();
  command->add_option("--device", options->device, "cpu, mps or cuda")->required();
  command->add_option("--save", options->save, "write the device's outputs to this safetensors file");
  command->add_flag("--json", options->json, "one JSON object");
  addition.add_options(*command);
  command->footer("Exit code: 0 agrees, 1 a node diverges, 2 a bad archive.\nExample: driftgate pt2 model.pt2 --device mps");
  command->callback([options, &run] { run = [options] { return options->run(); }; });
}

}  // namespace driftgate
