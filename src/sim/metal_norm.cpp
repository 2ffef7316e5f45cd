// Layer norm in two passes (one in torch 2.13 and before) and group norm in one: E[x^2] - mean^2, which cancels where the mean is large.
#include <algorithm>

#include "sim/kernel_call.hpp"
#include "sim/metal_kernels.hpp"
#include "sim/metal_lanes.hpp"

namespace driftgate {
namespace {

struct Moments {
  float mean, variance;
};

Moments two_pass(const float* x, std::int64_t count, std::vector<float>& scratch) {
  const float terms = static_cast<float>(count), mean = lane_sum(x, count) / terms;
  for (std::int64_t i = 0; i < count; ++i) scratch[static_cast<std::size_t>(i)] = (x[i] - mean) * (x[i] - mean);
  return {mean, lane_sum(scratch.data(), count) / terms};
}

Moments one_pass(const float* x, std::int64_t count, std::vector<float>& scratch) {
  const float terms = static_cast<float>(count), mean = lane_sum(x, count) / terms;
  for (std::int64_t i = 0; i < count; ++i) scratch[static_cast<std::size_t>(i)] = x[i] * x[i];
  return {mean, lane_sum(scratch.data(), count) / terms - mean * mean};
}

float at_or(const at::Tensor& values, std::int64_t index, float fallback) { return values.defined() ? values.data_ptr<float>()[index] : fallback; }

// With affine parameters of another dtype (fp32 beside half) the statistics are fp32, as on the CPU.
at::ScalarType statistics_type(const at::Tensor& input, const at::Tensor& weight) {
  return weight.defined() && weight.scalar_type() != input.scalar_type() ? at::kFloat : input.scalar_type();
}

void layer_norm(const c10::OperatorHandle& op, torch::jit::Stack& stack, bool onepass) {
  KernelCall call(op, stack);
  const at::Tensor input = call.tensor("input"), weight = as_float(call.tensor("weight")), bias = as_float(call.tensor("bias"));
  const std::vector<std::int64_t> normalized = call.integers("normalized_shape");
  const auto fits = [&](const at::Tensor& affine) { return !affine.defined() || affine.sizes() == normalized; };
  const bool suffix = static_cast<std::size_t>(input.dim()) >= normalized.size() && input.sizes().slice(static_cast<std::size_t>(input.dim()) - normalized.size()) == normalized;
  if (!is_small_float(input) || input.numel() == 0 || !suffix || !fits(weight) || !fits(bias)) return call.on_cpu();
  std::int64_t length = 1;
  for (const std::int64_t size : normalized) length *= size;
  at::Tensor rows = as_float(input);
  std::vector<std::int64_t> shape = input.sizes().vec();
  std::fill(shape.end() - static_cast<std::ptrdiff_t>(normalized.size()), shape.end(), 1);
  const at::Tensor means = at::empty(shape, at::kFloat), reciprocals = at::empty(shape, at::kFloat);
  std::vector<float> scratch(static_cast<std::size_t>(length));
  float* x = rows.data_ptr<float>();
  for (std::int64_t row = 0; row < rows.numel() / length; ++row, x += length) {
    Moments moments = onepass ? one_pass(x, length, scratch) : two_pass(x, length, scratch);
    if (onepass && moments.variance < 1e-6f) moments.variance = 0;
    const float reciprocal = 1 / std::sqrt(moments.variance + static_cast<float>(call.real("eps", 1e-5)));
    for (std::int64_t i = 0; i < length; ++i) x[i] = fused((x[i] - moments.mean) * reciprocal, at_or(weight, i, 1), at_or(bias, i, 0));
    means.data_ptr<float>()[row] = moments.mean;
    reciprocals.data_ptr<float>()[row] = reciprocal;
  }
  const at::ScalarType type = statistics_type(input, call.tensor("weight"));
  call.finish({stored(rows, input.scalar_type()), stored(means, type), stored(reciprocals, type)});
}

void group_norm(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  KernelCall call(op, stack);
  const at::Tensor input = call.tensor("input"), weight = as_float(call.tensor("weight")), bias = as_float(call.tensor("bias"));
  if (!is_small_float(input) || input.numel() == 0) return call.on_cpu();
  const std::int64_t samples = call.integer("N"), channels = call.integer("C"), groups = call.integer("group");
  const std::int64_t pixels = call.integer("HxW"), length = channels / groups * pixels;
  at::Tensor rows = as_float(input);
  const at::Tensor means = at::empty({samples, groups}, at::kFloat), reciprocals = at::empty({samples, groups}, at::kFloat);
  std::vector<float> scratch(static_cast<std::size_t>(length));
  float* x = rows.data_ptr<float>();
  for (std::int64_t row = 0; row < samples * groups; ++row, x += length) {
    const Moments moments = one_pass(x, length, scratch);
    const float reciprocal = 1 / std::sqrt(moments.variance + static_cast<float>(call.real("eps", 1e-5)));
    const std::int64_t first = row % groups * (channels / groups);
    for (std::int64_t i = 0; i < length; ++i) {
      const std::int64_t channel = first + i / pixels;
      x[i] = fused((x[i] - moments.mean) * reciprocal, at_or(weight, channel, 1), at_or(bias, channel, 0));
    }
    means.data_ptr<float>()[row] = moments.mean;
    reciprocals.data_ptr<float>()[row] = reciprocal;
  }
  const at::ScalarType type = statistics_type(input, call.tensor("weight"));
  call.finish({stored(rows, input.scalar_type()), stored(means, type), stored(reciprocals, type)});
}

}  // namespace

void add_norm_kernels(bool layer_norm_onepass, Kernels& into) {
  into["aten::native_layer_norm"] = [layer_norm_onepass](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    layer_norm(op, stack, layer_norm_onepass);
  };
  into["aten::native_group_norm"] = group_norm;
}

}  // namespace driftgate
