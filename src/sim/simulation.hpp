#pragma once
// The simulated device: a torch backend (PrivateUse1, named "sim") that computes on the CPU, as a profile says, with faults planted.
//
// Nothing is registered before open_simulated_device: the backend makes at::getAccelerator answer "sim" for the whole process.
// LibTorch is not named here, so that the command line need not include it.
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/fault.hpp"

namespace driftgate {

struct SimulationOptions {
  std::string profile = "clean", winograd = "none";
  bool ln_onepass = false;
  std::filesystem::path kernels;                        // the table of operators that arrive whole (data/mps_kernels.tsv)
};

// Once a process. Error `bad_profile`, or that of an unreadable table.
void open_simulated_device(const SimulationOptions& options);

// Plants these faults and no others, and forgets everything that earlier calls left: stale outputs, counters, leaked and cached
// memory, the generator's state. With `observe` the faults are only looked for: nothing goes wrong.
void plant(std::vector<Fault> faults, bool observe = false);

// For each planted fault, what happened since it was planted.
struct Activity {
  std::int64_t activations = 0;                         // calls that it changed, or would have
  bool prepared = false;                                // its after_op was called
};
std::vector<Activity> activity();

std::int64_t simulated_bytes();                         // memory that is allocated on the device now, leaks included

}  // namespace driftgate
