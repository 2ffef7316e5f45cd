#pragma once
// One call that reached the simulated device, and small tools over its arguments.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace driftgate {

using torch::jit::Stack;

struct Call {
  const c10::OperatorHandle& op;
  const Stack& original;                                // as called
  const Stack& arguments;                               // the same, with CPU tensors that share the device's memory
  std::vector<std::string> names;                       // "aten::add.out", "aten::add" and those of callers that only pass it on
  std::vector<std::string> enclosing;                   // names of composite calls and autograd nodes around it
};

// A tensor, or each of a list of tensors, through `change`; any other value as it is.
c10::IValue map_tensors(const c10::IValue& value, const std::function<at::Tensor(const at::Tensor&)>& change);
std::vector<at::Tensor> tensors_of(const c10::IValue& value);          // defined ones only
void keep_wrapped(const at::Tensor& from, const at::Tensor& to);       // a number wrapped in a tensor stays one: it does not promote
bool written(const c10::Argument& argument);                           // in-place, or an `out`
bool output_only(const c10::OperatorHandle& op, std::size_t position); // an `out` argument

}  // namespace driftgate
