#pragma once
// What all models share: autocast as the policy asks, the loss, its gradients and one optimizer step.
//
// forward: the model's outputs, "loss" last. backward: "grad.<parameter>" of the loss for each parameter, then "step.<parameter>",
// the parameter after one step of the optimizer that the setting "step" names (sgd; adamw in its functional form, from a fresh state). Under
// fp16 and amp_fp16 the loss is multiplied by 1,024 before, as a gradient scaler would, and the step divides by it.
#include "models/program.hpp"

namespace driftgate::models {

// The last output is named "loss" and has no dims.
using Forward = std::function<std::vector<NamedTensor>(const Tensors& inputs, ObjectReader& settings)>;
using Inputs = std::function<std::vector<ProgramInput>(ObjectReader& settings)>;

Program make_model(std::string name, Inputs inputs, Forward forward);

// weight [out, in] and bias [out], normal with the deviation of the field's uniform: 1 / sqrt(3 in)
void add_linear(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t in, std::int64_t out);
void add_norm(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t width);   // weight near 1, bias near 0
// weight [out, in, size, size] and bias, the deviation that of a linear layer of in * size² inputs
void add_convolution(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t in, std::int64_t out, std::int64_t size, bool bias);
at::Tensor convolution(const Tensors& tensors, const std::string& name, const at::Tensor& x, std::int64_t stride, std::int64_t padding);
at::Tensor group_norm(const Tensors& tensors, const std::string& name, const at::Tensor& x);      // 8 groups
at::Tensor linear(const Tensors& tensors, const std::string& name, const at::Tensor& x);
at::Tensor layer_norm(const Tensors& tensors, const std::string& name, const at::Tensor& x);

}  // namespace driftgate::models
