// driftgate_sim: driftgate with a simulated device, which can be told to fail. It measures the detector itself.
#include "device/device.hpp"
#include "error.hpp"
#include "simulated.hpp"
#include "tensor/digest.hpp"
#include "version.hpp"

namespace driftgate {

void SimulatedOptions::add_profile_to(CLI::App& command) {
  simulation.kernels = std::filesystem::path(std::string(kSourceDir)) / "data/mps_kernels.tsv";
  command.add_option("--profile", simulation.profile, "sim: how a sound device computes (clean, metal_like, metal_spec, metal_m5_tf32)");
  command.add_flag("--ln-onepass", simulation.ln_onepass, "sim: layer_norm in one pass, as MPS had it up to torch 2.13");
  command.add_option("--winograd", simulation.winograd, "sim: 3 x 3 convolutions by Winograd's algorithm (none, f2, f4)");
}

std::vector<std::string> SimulatedOptions::profile_arguments() const {
  std::vector<std::string> arguments = {"--profile", simulation.profile, "--winograd", simulation.winograd};
  if (simulation.ln_onepass) arguments.emplace_back("--ln-onepass");
  return arguments;
}

namespace {

Json open(const SimulatedOptions& options, const std::string& device) {
  if (parse_device(device) != Device::sim) {
    if (!options.faults.empty()) throw Error("usage", "--faults", "the device " + device + " has no faults to plant", "use --device sim");
    return Json::object();
  }
  std::vector<Fault> faults;
  Json names = Json::array();
  if (!options.faults.empty()) faults = read_faults(options.faults);
  for (const Fault& fault : faults) names.push_back(fault.name);
  open_simulated_device(options.simulation);
  plant(faults);
  return {{"profile", options.simulation.profile},
          {"ln_onepass", options.simulation.ln_onepass},
          {"winograd", options.simulation.winograd},
          {"faults_digest", options.faults.empty() ? "" : hex(digest(read_text(options.faults)))},
          {"faults", names}};
}

Addition simulated_device() {
  const auto options = std::make_shared<SimulatedOptions>();
  Addition addition;
  addition.add_options = [options](CLI::App& command) {
    options->add_profile_to(command);
    command.add_option("--faults", options->faults, "sim: a file of faults to plant");
  };
  addition.options = [options] {
    std::vector<std::string> arguments = options->profile_arguments();
    if (!options->faults.empty()) arguments.insert(arguments.end(), {"--faults", std::filesystem::absolute(options->faults).string()});
    return arguments;
  };
  addition.open = [options](const std::string& device) { return open(*options, device); };
  addition.add_commands = [](CLI::App& app, Run& run, const std::string& program) {
    add_detect(app, run, program);
    add_detect_worker(app, run);
  };
  return addition;
}

}  // namespace
}  // namespace driftgate

int main(int argc, char** argv) { return driftgate::run_command_line(argc, argv, driftgate::simulated_device()); }
