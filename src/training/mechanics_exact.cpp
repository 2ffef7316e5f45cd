// Mechanics in whole numbers: every order of summation gives the same bits.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <limits>

#include "training/mechanics.hpp"

namespace driftgate::mechanic {
namespace {

constexpr std::int64_t kScalerSteps = 5;
constexpr double kScale = 1024, kRate = 0.5;

std::int64_t setting(const ProgramCall& call, const char* name) { return ObjectReader(call.settings, call.where).integer(name); }

Tensor leaf(const ProgramCall& call, const std::string& name) { return call.inputs.at(name).detach().clone().requires_grad_(true); }

Tensor loss_of(const Tensor& x, const Tensor& target, const Tensor& w1, const Tensor& w2) {
  const Tensor away = at::linear(at::relu(at::linear(x, w1)), w2) - target;
  return (away * away).sum() / 2;
}

}  // namespace

Outputs accumulation(const ProgramCall& call, const Accumulate& accumulate) {
  const c10::AutoGradMode grad_mode(true);
  const Tensor &x = call.inputs.at("x"), &target = call.inputs.at("target");
  const Tensor w1 = leaf(call, "w1"), w2 = leaf(call, "w2");
  const std::vector<Tensor> large = torch::autograd::grad({loss_of(x, target, w1, w2)}, {w1, w2});
  const std::vector<Tensor> xs = x.chunk(setting(call, "parts")), targets = target.chunk(setting(call, "parts"));
  for (std::size_t part = 0; part < xs.size(); ++part) accumulate(loss_of(xs[part], targets[part], w1, w2));
  return {{"large.w1", large[0]}, {"large.w2", large[1]}, {"parts.w1", w1.grad().clone()}, {"parts.w2", w2.grad().clone()}};
}

Outputs batch_parts(const ProgramCall& call, const Net& net) {
  const c10::NoGradGuard no_grad;
  const Tensor &x = call.inputs.at("x"), &w1 = call.inputs.at("w1"), &w2 = call.inputs.at("w2");
  std::vector<Tensor> apart;
  for (const Tensor& part : x.chunk(setting(call, "parts"))) apart.push_back(net(part, w1, w2));
  return {{"batched", net(x, w1, w2)}, {"apart", at::cat(apart)}};
}

Outputs scaler(const ProgramCall& call, const Unscale& unscale) {
  const c10::NoGradGuard no_grad;
  const Tensor parameter = call.inputs.at("parameter").clone(), &given = call.inputs.at("gradients");
  GradScaler own(call.device, kScale, setting(call, "interval"));
  std::vector<Tensor> scales = {own.scale().clone()}, parameters, skipped;
  for (std::int64_t step = 0; step < kScalerSteps; ++step) {
    std::vector<Tensor> gradients = {(given[step] * kScale).clone()};
    if (step == 1) gradients[0][2].fill_(std::numeric_limits<double>::infinity());
    if (step == kScalerSteps - 1) gradients[0][0].fill_(std::numeric_limits<double>::quiet_NaN());
    const bool finite = unscale(own, gradients);
    if (finite) parameter.sub_(gradients[0], kRate);
    own.update();
    scales.push_back(own.scale().clone());
    parameters.push_back(parameter.clone());
    skipped.push_back(at::full({}, !finite, c10::TensorOptions().dtype(c10::kBool)));
  }
  return {{"scale", at::stack(scales)}, {"skipped", at::stack(skipped)}, {"parameter", at::stack(parameters)}};
}

}  // namespace driftgate::mechanic
