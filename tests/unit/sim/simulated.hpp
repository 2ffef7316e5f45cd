#pragma once
// The simulated device of a test process, opened once, and faults planted in it for the length of a scope.
#include <ATen/ATen.h>

#include <string>

#include "error.hpp"
#include "sim/simulation.hpp"

namespace driftgate {

inline const c10::Device& sim() {
  static const c10::Device device = [] {
    SimulationOptions options;
    options.kernels = std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "data/mps_kernels.tsv";
    open_simulated_device(options);
    return c10::Device(c10::kPrivateUse1, 0);
  }();
  return device;
}

class PlantedFault {
 public:
  PlantedFault(const std::string& op, const std::string& effect, const std::string& when = "{}") {
    sim();
    plant(parse_faults(parse_json(R"({"faults": [{"name": "f", "op": ")" + op + R"(", "when": )" + when + R"(, "effect": )" + effect + "}]}", "test"), "test"));
  }
  ~PlantedFault() { plant({}); }
  std::int64_t activations() const { return activity().at(0).activations; }
};

inline at::Tensor on_sim(const at::Tensor& tensor) { return tensor.to(sim()); }

}  // namespace driftgate
