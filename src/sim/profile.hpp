#pragma once
// How a sound device computes. The simulated device takes an operator's kernel from its profile, where that has one, instead of the CPU's.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <string>

namespace driftgate {

// Called with CPU tensors on the stack; replaces the arguments by the results. Keys are "aten::name" or "aten::name.overload".
using Kernel = std::function<void(const c10::OperatorHandle&, torch::jit::Stack&)>;

struct Profile {
  std::string name;
  std::map<std::string, Kernel, std::less<>> kernels;
  // For every arithmetic operator; may be empty. Called on private CPU copies of its floating inputs and on its CPU outputs.
  std::function<void(at::Tensor&)> on_input, on_output;
};

struct ProfileOptions {
  std::string name = "clean";
  bool ln_onepass = false;
  std::string winograd = "none";
};

Profile make_profile(const ProfileOptions& options);    // Error `bad_profile`

}  // namespace driftgate
