#pragma once
// What driftgate_sim adds to the command line: the device sim with its profile and faults, and the command `detect`.
#include "command.hpp"
#include "sim/simulation.hpp"

namespace driftgate {

// Options of the simulated device, as they are given to `run`, to `detect` and on to the workers.
struct SimulatedOptions {
  SimulationOptions simulation;
  std::filesystem::path faults;

  void add_profile_to(CLI::App& command);
  std::vector<std::string> profile_arguments() const;
};

void add_detect(CLI::App& app, Run& run, const std::string& program);
void add_detect_worker(CLI::App& app, Run& run);

}  // namespace driftgate
