#pragma once
// The worker's side of supervisor.hpp.
#include <filesystem>
#include <optional>

#include "device/device.hpp"

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

// Reads ids from stdin until it closes. Returns the process's exit code.
int work(const WorkerOptions& options);

}  // namespace driftgate
