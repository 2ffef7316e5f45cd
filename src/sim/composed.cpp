#include "sim/composed.hpp"

#include <ATen/ATen.h>

namespace driftgate {
namespace {

using torch::jit::Stack;

at::Tensor optional_tensor(const c10::IValue& value) { return value.isTensor() ? value.toTensor() : at::Tensor(); }

void copy_from(Stack& stack, bool resize) {
  const at::Tensor from = stack[0].toTensor();
  at::Tensor to = stack[1].toTensor();
  if (resize) to.resize_(from.sizes());
  to.copy_(from);
  stack = {to};
}

// (self, grad_output, weight, output_mask) -> the gradients of self, weight and bias
void linear_backward(Stack& stack) {
  const at::Tensor self = stack[0].toTensor(), gradient = stack[1].toTensor(), weight = stack[2].toTensor();
  const auto mask = stack[3].toBoolList();
  const at::Tensor rows = gradient.reshape({-1, weight.size(0)});
  Stack results(3, at::Tensor());
  if (mask[0]) results[0] = rows.mm(weight).reshape(self.sizes());
  if (mask[1]) results[1] = rows.t().mm(self.reshape({-1, weight.size(1)}));
  if (mask[2]) results[2] = rows.sum(0);
  stack = std::move(results);
}

// (grad_output, self, kernel_size, stride, padding, dilation, ceil_mode) -> the gradient of self
void max_pool2d_backward(Stack& stack) {
  const at::Tensor gradient = stack[0].toTensor(), self = stack[1].toTensor();
  const auto kernel = stack[2].toIntVector(), stride = stack[3].toIntVector(), padding = stack[4].toIntVector(), dilation = stack[5].toIntVector();
  const bool ceil = stack[6].toBool();
  const at::Tensor indices = std::get<1>(at::max_pool2d_with_indices(self, kernel, stride, padding, dilation, ceil));
  stack = {at::max_pool2d_with_indices_backward(gradient, self, kernel, stride, padding, dilation, ceil, indices)};
}

// (grad_out, input, normalized_shape, rstd, weight, output_mask) -> the gradients of input and weight
void rms_norm_backward(Stack& stack) {
  const at::Tensor input = stack[1].toTensor(), rstd = stack[3].toTensor(), weight = optional_tensor(stack[4]);
  const at::Tensor gradient = stack[0].toTensor().to(rstd.scalar_type()), normed = input.to(rstd.scalar_type()) * rstd;
  std::vector<std::int64_t> inner, outer;
  const auto normalized = static_cast<std::int64_t>(stack[2].toIntVector().size());
  for (std::int64_t d = 0; d < input.dim(); ++d) (d < input.dim() - normalized ? outer : inner).push_back(d);
  const auto mask = stack[5].toBoolList();
  Stack results(2, at::Tensor());
  const at::Tensor scaled = weight.defined() ? gradient * weight : gradient;
  if (mask[0]) results[0] = (rstd * (scaled - normed * (scaled * normed).mean(inner, true))).to(input.scalar_type());
  if (mask[1] && weight.defined()) {
    const at::Tensor products = gradient * normed;
    results[1] = (outer.empty() ? products : products.sum(outer)).to(weight.scalar_type());
  }
  stack = std::move(results);
}

at::Tensor with_bias(const at::Tensor& gates, const c10::IValue& given) {
  const at::Tensor bias = optional_tensor(given);
  return bias.defined() ? gates + bias : gates;
}

// (input_gates, hidden_gates, cx, input_bias, hidden_bias) -> (hy, cy, the activated gates i f g o)
void lstm_cell(Stack& stack) {
  const at::Tensor gates = with_bias(stack[0].toTensor(), stack[3]) + with_bias(stack[1].toTensor(), stack[4]);
  const auto part = gates.chunk(4, 1);
  const at::Tensor in = part[0].sigmoid(), forget = part[1].sigmoid(), cell = part[2].tanh(), out = part[3].sigmoid();
  const at::Tensor cy = forget * stack[2].toTensor() + in * cell;
  stack = {out * cy.tanh(), cy, at::cat({in, forget, cell, out}, 1)};
}

// (grad_hy, grad_cy, cx, cy, workspace, has_bias) -> (grad_gates, grad_cx, grad_bias)
void lstm_cell_backward(Stack& stack) {
  const at::Tensor cx = stack[2].toTensor(), cy = stack[3].toTensor(), workspace = stack[4].toTensor();
  at::Tensor grad_hy = optional_tensor(stack[0]), grad_cy = optional_tensor(stack[1]);
  if (!grad_hy.defined()) grad_hy = at::zeros_like(cy);
  if (!grad_cy.defined()) grad_cy = at::zeros_like(cy);
  const auto part = workspace.chunk(4, 1);
  const at::Tensor &in = part[0], &forget = part[1], &cell = part[2], &out = part[3];
  const at::Tensor squashed = cy.tanh();
  const at::Tensor through = grad_hy * out * (1 - squashed * squashed) + grad_cy;
  const at::Tensor gates = at::cat({through * cell * in * (1 - in), through * cx * forget * (1 - forget), through * in * (1 - cell * cell),
                                    grad_hy * squashed * out * (1 - out)}, 1);
  const at::Tensor bias = stack[5].toBool() ? gates.sum(0) : at::Tensor();
  stack = {gates, through * forget, bias};
}

// (input_gates, hidden_gates, hx, input_bias, hidden_bias) -> (hy, r i n hx and the hidden part of n)
void gru_cell(Stack& stack) {
  const auto input = with_bias(stack[0].toTensor(), stack[3]).chunk(3, 1), hidden = with_bias(stack[1].toTensor(), stack[4]).chunk(3, 1);
  const at::Tensor hx = stack[2].toTensor();
  const at::Tensor reset = (input[0] + hidden[0]).sigmoid(), update = (input[1] + hidden[1]).sigmoid();
  const at::Tensor fresh = (input[2] + reset * hidden[2]).tanh();
  stack = {fresh + update * (hx - fresh), at::cat({reset, update, fresh, hx, hidden[2]}, 1)};
}

// (grad_hy, workspace, has_bias) -> (grad_input_gates, grad_hidden_gates, grad_hx, grad_input_bias, grad_hidden_bias)
void gru_cell_backward(Stack& stack) {
  const at::Tensor grad_hy = stack[0].toTensor();
  const auto part = stack[1].toTensor().chunk(5, 1);
  const at::Tensor &reset = part[0], &update = part[1], &fresh = part[2], &hx = part[3], &hidden = part[4];
  const at::Tensor to_update = grad_hy * (hx - fresh) * update * (1 - update);
  const at::Tensor to_fresh = grad_hy * (1 - update) * (1 - fresh * fresh);
  const at::Tensor to_reset = to_fresh * hidden * reset * (1 - reset);
  const at::Tensor input_gates = at::cat({to_reset, to_update, to_fresh}, 1), hidden_gates = at::cat({to_reset, to_update, to_fresh * reset}, 1);
  const bool has_bias = stack[2].toBool();
  stack = {input_gates, hidden_gates, grad_hy * update, has_bias ? input_gates.sum(0) : at::Tensor(), has_bias ? hidden_gates.sum(0) : at::Tensor()};
}

Kernel kernel(void (*function)(Stack&)) {
  return [function](const c10::OperatorHandle&, Stack& stack) { function(stack); };
}

}  // namespace

const std::map<std::string, Kernel, std::less<>>& composed_kernels() {
  static const std::map<std::string, Kernel, std::less<>> kernels = {
      {"aten::_copy_from", [](const c10::OperatorHandle&, Stack& stack) { copy_from(stack, false); }},
      {"aten::_copy_from_and_resize", [](const c10::OperatorHandle&, Stack& stack) { copy_from(stack, true); }},
      {"aten::linear_backward", kernel(&linear_backward)},
      {"aten::_fused_rms_norm_backward", kernel(&rms_norm_backward)},
      {"aten::max_pool2d_backward", kernel(&max_pool2d_backward)},
      {"aten::_thnn_fused_lstm_cell", kernel(&lstm_cell)},
      {"aten::_thnn_fused_lstm_cell_backward_impl", kernel(&lstm_cell_backward)},
      {"aten::_thnn_fused_gru_cell", kernel(&gru_cell)},
      {"aten::_thnn_fused_gru_cell_backward", kernel(&gru_cell_backward)}};
  return kernels;
}

}  // namespace driftgate
