#pragma once
// The worker's side of supervisor.hpp.
#include <filesystem>
#include <optional>

#include "device/device.hpp"
#include "run/runner.hpp"

namespace driftgate {

struct WorkerOptions {
  Device device = Device::cpu;
  bool tf32 = false;
  std::filesystem::path cases, tolerances;
  std::optional<std::filesystem::path> golden;
  Json facts = Json::object();                          // what else is known about the device: goes into its environment
  std::filesystem::path tensors;                        // failing tensors go here, at most kMostTensorFiles; empty: nowhere
};

inline constexpr int kMostTensorFiles = 100;

// Sends a line to the supervisor; false when nobody reads.
bool answer(std::string line);
// What became of the case; a spec that does not fit its operator is the stage no_reference.
CaseRecord record_of(Runner& runner, const Case& c);

// Reads ids from stdin until it closes. Returns the process's exit code.
int work(const WorkerOptions& options);

}  // namespace driftgate
