#pragma once
// One boxed call of a profile's kernel: arguments by the schema's names, results to where the schema wants them.
#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string_view>
#include <vector>

namespace driftgate {

class KernelCall {
 public:
  KernelCall(const c10::OperatorHandle& op, torch::jit::Stack& stack);

  at::Tensor tensor(std::string_view name) const;                       // undefined when the schema has none or none is given
  bool given(std::string_view name) const;                              // in the schema, and not None
  double real(std::string_view name, double fallback) const;
  bool flag(std::string_view name, bool fallback) const;
  std::int64_t integer(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<bool> flags(std::string_view name) const;
  const c10::IValue& value(std::string_view name) const;

  // Writes into the tensors that the schema marks as written (`out`, an in-place self), resizing an `out`; else returns the results.
  void finish(const std::vector<at::Tensor>& results);
  void on_cpu();                                                        // the CPU's own kernel takes the call

 private:
  int position(std::string_view name) const;

  const c10::OperatorHandle& op_;
  torch::jit::Stack& stack_;
  std::size_t first_;
};

bool is_small_float(const at::Tensor& tensor);                          // defined; fp32, fp16 or bf16
// A contiguous fp32 copy, subnormals of fp32 and bf16 flushed as the device reads them. Undefined stays undefined.
at::Tensor as_float(const at::Tensor& tensor);
// The result as the device stores it: flushed, one rounding to `type`.
at::Tensor stored(const at::Tensor& fp32, at::ScalarType type);
// The part that memory holds: dims of stride 0 cut to their first slice.
at::Tensor unexpanded(const at::Tensor& tensor);
// Subnormals of fp32 and bf16 become zeros of their sign; fp16 keeps its own.
void flush_subnormals(at::Tensor& tensor);

}  // namespace driftgate
