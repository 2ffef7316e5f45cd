#pragma once
// The error that one call of an operator adds: the device's outputs against fp64 on the CPU, from the inputs that the device itself had.
//
// required = RMS error / sqrt(mean S² + u² · mean ref²), where S is what one rounding of every floating input does (RMS of 2 draws) and u
// the coarsest roundoff among the dtypes of the call. Other shapes and NaN patterns are infinitely wrong, and so are other integers where
// an operator gives nothing else (beside floats they are bookkeeping, which differs by dtype).
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>

namespace driftgate {

// Every tensor of the values on the CPU, in memory of its own.
torch::jit::Stack copied_to_cpu(const torch::jit::Stack& values);

struct LocalError {
  bool checked = false;                                 // false: not an operator that a CPU can repeat, or nothing to compare
  double required = 0;
};

// inputs: before the call, on the CPU, with the call's dtypes. after: the arguments after it, for those that it writes.
LocalError local_error(const c10::OperatorHandle& op, const torch::jit::Stack& inputs, const torch::jit::Stack& outputs, const torch::jit::Stack& after);

// Writes the fp64 result, rounded to the dtype of each, over the outputs and the arguments that the call wrote. False where a CPU
// cannot repeat the call.
bool substitute(const c10::OperatorHandle& op, const torch::jit::Stack& inputs, const torch::jit::Stack& outputs, const torch::jit::Stack& after);

}  // namespace driftgate
