#include "models/model.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

#include "error.hpp"
#include "device/autocast.hpp"

namespace driftgate::models {
namespace {

constexpr double kLossScale = 1024, kRate = 0.1, kAdamRate = 1e-2, kAdamEpsilon = 1e-6, kDecay = 0.01;

std::vector<NamedTensor> forward_pass(const ProgramCall& call, const Tensors& tensors, const Forward& forward) {
  ObjectReader settings(call.settings, call.where);
  const Autocast autocast(call.device.type(), call.reference ? Policy::fp32 : call.policy);
  return forward(tensors, settings);
}

at::Tensor stepped(const std::string& optimizer, const at::Tensor& parameter, const at::Tensor& scaled, double scale) {
  const at::Tensor gradient = scaled.div(scale);
  if (optimizer == "sgd") return parameter.sub(gradient, kRate);
  const at::Tensor update = gradient.div(gradient.mul(gradient).sqrt().add(kAdamEpsilon));     // both moments, corrected, of a first step
  return parameter.mul(1 - kAdamRate * kDecay).sub(update, kAdamRate);
}

std::vector<NamedTensor> backward_pass(const ProgramCall& call, const Forward& forward) {
  const c10::AutoGradMode grad_mode(true);
  Tensors tensors = call.inputs;
  std::vector<std::string> names;
  std::vector<at::Tensor> leaves;
  for (const ProgramInput& input : call.declared) {
    if (!input.parameter) continue;
    at::Tensor& leaf = tensors.at(input.name);
    leaf = leaf.detach().requires_grad_(true);
    names.push_back(input.name);
    leaves.push_back(leaf);
  }
  const at::Tensor loss = forward_pass(call, tensors, forward).back().value;
  const double scale = call.policy == Policy::fp16 || call.policy == Policy::amp_fp16 ? kLossScale : 1;
  const std::vector<at::Tensor> gradients = torch::autograd::grad({loss.mul(scale)}, leaves, {}, /*retain_graph=*/false);
  const c10::NoGradGuard no_grad;
  std::vector<NamedTensor> outputs;
  for (std::size_t i = 0; i < names.size(); ++i) outputs.push_back({"grad." + names[i], gradients[i]});
  const std::string optimizer = ObjectReader(call.settings, call.where).string("step", "sgd");
  for (std::size_t i = 0; i < names.size(); ++i) outputs.push_back({"step." + names[i], stepped(optimizer, leaves[i], gradients[i], scale)});
  return outputs;
}

}  // namespace

Program make_model(std::string name, Inputs inputs, Forward forward) {
  Program program{std::move(name), {}, {}};
  program.inputs = [inputs = std::move(inputs)](ObjectReader& settings) {
    const std::string step = settings.string("step", "sgd");
    if (step != "sgd" && step != "adamw") throw Error("bad_value", settings.where("step"), "'" + step + "' is not an optimizer", "sgd or adamw");
    return inputs(settings);
  };
  program.run = [forward = std::move(forward)](const ProgramCall& call) {
    if (call.direction == Direction::backward) return backward_pass(call, forward);
    const c10::NoGradGuard no_grad;
    return forward_pass(call, call.inputs, forward);
  };
  return program;
}

void add_linear(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t in, std::int64_t out) {
  const double scale = 1 / std::sqrt(3 * static_cast<double>(in));
  inputs.push_back(parameter(name + ".weight", {out, in}, scale));
  inputs.push_back(parameter(name + ".bias", {out}, scale));
}

void add_norm(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t width) {
  inputs.push_back(parameter(name + ".weight", {width}, "normal(mean=1, scale=0.1)"));
  inputs.push_back(parameter(name + ".bias", {width}, 0.1));
}

void add_convolution(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t in, std::int64_t out, std::int64_t size, bool bias) {
  const double scale = 1 / std::sqrt(3 * static_cast<double>(in * size * size));
  inputs.push_back(parameter(name + ".weight", {out, in, size, size}, scale));
  if (bias) inputs.push_back(parameter(name + ".bias", {out}, scale));
}

at::Tensor convolution(const Tensors& tensors, const std::string& name, const at::Tensor& x, std::int64_t stride, std::int64_t padding) {
  const auto bias = tensors.find(name + ".bias");
  return at::conv2d(x, tensors.at(name + ".weight"), bias == tensors.end() ? std::optional<at::Tensor>() : bias->second, stride, padding);
}

at::Tensor group_norm(const Tensors& tensors, const std::string& name, const at::Tensor& x) {
  return at::group_norm(x, /*num_groups=*/8, tensors.at(name + ".weight"), tensors.at(name + ".bias"));
}

at::Tensor linear(const Tensors& tensors, const std::string& name, const at::Tensor& x) {
  return at::linear(x, tensors.at(name + ".weight"), tensors.at(name + ".bias"));
}

at::Tensor layer_norm(const Tensors& tensors, const std::string& name, const at::Tensor& x) {
  const at::Tensor& weight = tensors.at(name + ".weight");
  return at::layer_norm(x, weight.sizes(), weight, tensors.at(name + ".bias"));
}

}  // namespace driftgate::models
