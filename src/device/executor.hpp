#pragma once
// What runs a case. One class for every device; the fp64 reference is the same class on the CPU with wider inputs.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "run/prepared.hpp"

namespace driftgate {

struct Output {
  std::string name;                                     // "result", "result1", …, "grad.self", …
  Buffer value;
};

// What one run produced. Anything but stage "done" explains itself in `message`; the stages are evidence.hpp's.
struct Observation {
  std::string stage = "done";
  std::string message;
  std::vector<Output> outputs;
  std::set<std::string> warnings;
};

// The upstream gradient of output `index`, as a CPU tensor of doubles (or complex doubles) of that output's shape.
using Upstream = std::function<at::Tensor(std::size_t index, const at::Tensor& output)>;

class Executor {
 public:
  explicit Executor(Device device, bool widen = false) : device_(device), widen_(widen) {}

  Device device() const { return device_; }
  // Runs the case on `inputs` (CPU tensors, one a slot; never changed) and waits for the results. Never throws for what the
  // device does: an unsupported operator, an error and an exhausted memory are stages.
  Observation run(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream) const;

 private:
  void forward_or_backward(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream, Observation& into) const;

  Device device_;
  bool widen_;
};

}  // namespace driftgate
