#pragma once
// What runs a case. One class for every device; the fp64 reference is the same class on the CPU with wider inputs.
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "device/layout.hpp"
#include "run/prepared.hpp"

namespace driftgate {

struct Output {
  std::string name;                                     // "result", "result1", …, "grad.self", …
  Buffer value;
};

// How a call reaches the device.
struct Road {
  std::vector<Layout> layouts;                          // one an input; empty: contiguous
  std::vector<bool> gradients;                          // which inputs require one; empty: those of the case
  bool record_gradients = false;                        // forward in grad mode, on inputs that require gradients
  Layout upstream = Layout::contiguous;
  std::vector<at::Tensor> outs;                         // for an out= overload: CPU tensors of the outputs' shapes and dtypes
  bool inputs_kept = false;                             // look whether the inputs still hold their values
};

// What one run produced. Anything but stage "done" explains itself in `message`; the stages are evidence.hpp's.
struct Observation {
  std::string stage = "done";
  std::string message;
  std::vector<Output> outputs;
  std::set<std::string> warnings;
  std::vector<std::string> side_effects;                // memory that the call should not have written
};

// The upstream gradient of output `index`, as a CPU tensor of doubles (or complex doubles) of that output's shape.
using Upstream = std::function<at::Tensor(std::size_t index, const at::Tensor& output)>;

// Fills an observation, and turns what a device throws (an unsupported operator, an error, an exhausted memory) into its stage.
Observation observe(const std::function<void(Observation& into)>& fill);

class Executor {
 public:
  explicit Executor(Device device, bool widen = false) : device_(device), widen_(widen) {}

  Device device() const { return device_; }
  // Runs the case on `inputs` (CPU tensors, one a slot; never changed) and waits for the results. Never throws for what the
  // device does: an unsupported operator, an error and an exhausted memory are stages.
  Observation run(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream,
                  const Road& road = {}) const;

 private:
  struct Call;                                          // the operands on the device
  Call place(const Prepared& c, const std::vector<at::Tensor>& inputs, const Road& road) const;
  std::vector<at::Tensor> called(const Prepared& c, const std::vector<at::Tensor>& operands, const std::vector<at::Tensor>& outs = {}) const;
  void forward(const Prepared& c, const std::vector<at::Tensor>& inputs, const Road& road, Observation& into) const;
  void backward(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream, const Road& road, Observation& into) const;

  Device device_;
  bool widen_;
};

}  // namespace driftgate
