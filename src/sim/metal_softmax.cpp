// Softmax and log_softmax: fp32, shifted by the maximum, a tree sum, a product with the reciprocal; exp and log of the MPSGraph kind.
#include <algorithm>
#include <limits>

#include "sim/kernel_call.hpp"
#include "sim/metal_kernels.hpp"
#include "sim/metal_lanes.hpp"

namespace driftgate {
namespace {

void softmax_row(const MetalMath& m, float* x, std::int64_t count) {
  const float largest = *std::max_element(x, x + count);
  for (std::int64_t i = 0; i < count; ++i) x[i] = m.graph_exp(x[i] - largest);
  const float reciprocal = 1 / lane_sum(x, count);
  for (std::int64_t i = 0; i < count; ++i) x[i] *= reciprocal;
}

void log_softmax_row(const MetalMath& m, float* x, std::int64_t count, float* scratch) {
  const float largest = *std::max_element(x, x + count);
  for (std::int64_t i = 0; i < count; ++i) scratch[i] = m.graph_exp(x[i] - largest);
  const float shift = m.graph_log(lane_sum(scratch, count));
  for (std::int64_t i = 0; i < count; ++i) x[i] = x[i] - largest - shift;
}

Kernel softmax_kernel(const MetalMath& m, bool with_log) {
  return [m, with_log](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor self = call.tensor("self");
    if (!is_small_float(self) || self.dim() == 0 || self.numel() == 0) return call.on_cpu();
    at::Tensor rows = as_float(self.movedim(call.integer("dim"), -1));
    const std::int64_t length = rows.size(-1);
    std::vector<float> scratch(static_cast<std::size_t>(length));
    float* x = rows.data_ptr<float>();
    for (std::int64_t row = 0; row < rows.numel() / length; ++row, x += length)
      with_log ? log_softmax_row(m, x, length, scratch.data()) : softmax_row(m, x, length);
    const at::ScalarType type = call.flag("half_to_float", false) ? at::kFloat : self.scalar_type();
    call.finish({stored(rows, type).movedim(-1, call.integer("dim"))});
  };
}

}  // namespace

void add_softmax_kernels(const MetalMath& math, Kernels& into) {
  into["aten::_softmax"] = softmax_kernel(math, false);
  into["aten::_log_softmax"] = softmax_kernel(math, true);
}

}  // namespace driftgate
