// Mechanics of state: of the generator, of the optimizer, and of both in a file.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "device/torch_types.hpp"
#include "tensor/safetensors.hpp"
#include "training/mechanics.hpp"

namespace driftgate::mechanic {
namespace {

constexpr std::uint64_t kSeed = 20261;
constexpr std::int64_t kSteps = 6, kSavedAt = 3;

Tensor leaf(const ProgramCall& call, const std::string& name) { return call.inputs.at(name).detach().clone().requires_grad_(true); }

Tensor block(const ProgramCall& call, const Tensor& w1) {
  const double dropped = ObjectReader(call.settings, call.where).real("dropout");
  return at::dropout(at::gelu(at::linear(call.inputs.at("x"), w1)), dropped, /*train=*/true);
}

Tensor loss_of(const Tensor& hidden, const Tensor& w2, const Tensor& target) {
  const Tensor away = at::linear(hidden, w2) - target;
  return (away * away).mean();
}

Tensor equal_each(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  std::vector<Tensor> same;
  for (std::size_t i = 0; i < a.size(); ++i) same.push_back((a[i] == b[i]).all().to(c10::kCPU));
  return at::stack(same);
}

Tensor truth(bool value) { return at::full({1}, value, c10::TensorOptions().dtype(c10::kBool)); }

void train_steps(const ProgramCall& call, std::vector<Tensor>& parameters, Optimizer& optimizer, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) {
    const Tensor loss = loss_of(block(call, parameters[0]), parameters[1], call.inputs.at("target"));
    optimizer.step(torch::autograd::grad({loss}, parameters));
  }
}

std::vector<Tensor> detached(const std::vector<Tensor>& parameters) {
  std::vector<Tensor> plain;
  for (const Tensor& parameter : parameters) plain.push_back(parameter.detach());
  return plain;
}

// Through the bytes of a file.
std::vector<Tensor> saved_and_read(const std::vector<Tensor>& tensors, c10::Device device) {
  Safetensors file;
  for (std::size_t i = 0; i < tensors.size(); ++i) file.tensors[std::to_string(i)] = to_buffer(tensors[i]);
  const Safetensors read = parse_safetensors(to_bytes(file), "resume");
  std::vector<Tensor> back;
  for (std::size_t i = 0; i < tensors.size(); ++i) back.push_back(to_tensor(read.tensors.at(std::to_string(i))).to(device));
  return back;
}

}  // namespace

Outputs checkpoint(const ProgramCall& call, const Restore& restore) {
  const c10::AutoGradMode grad_mode(true);
  const Tensor& target = call.inputs.at("target");
  const Tensor w1 = leaf(call, "w1"), w2 = leaf(call, "w2");
  Generator own(call.device);
  own.seed(kSeed);
  const Tensor state = own.state();
  const std::vector<Tensor> direct = torch::autograd::grad({loss_of(block(call, w1), w2, target)}, {w1, w2});

  own.set_state(state);
  Tensor hidden;
  {
    const c10::NoGradGuard no_grad;
    hidden = block(call, w1);
  }
  const Tensor cut = hidden.detach().requires_grad_(true);
  const std::vector<Tensor> upper = torch::autograd::grad({loss_of(cut, w2, target)}, {cut, w2});
  const bool random = !block(call, w1).detach().equal(hidden);       // the generator has moved on
  restore(own, state);
  const Tensor again = block(call, w1);
  const std::vector<Tensor> lower = torch::autograd::grad({again}, {w1}, {upper[0]});
  return {{"same", equal_each(direct, {lower[0], upper[1]})}, {"recomputed", truth(again.detach().equal(hidden))}, {"random", truth(random)}};
}

Outputs resume(const ProgramCall& call, const Reload& reload) {
  const c10::AutoGradMode grad_mode(true);
  OptimizerSettings settings;
  settings.lr = 0.01;
  Generator own(call.device);
  own.seed(kSeed);
  std::vector<Tensor> whole = {leaf(call, "w1"), leaf(call, "w2")};
  Optimizer straight(settings, detached(whole));
  train_steps(call, whole, straight, kSteps);

  own.seed(kSeed);
  std::vector<Tensor> before = {leaf(call, "w1"), leaf(call, "w2")};
  Optimizer first(settings, detached(before));
  train_steps(call, before, first, kSavedAt);
  std::vector<Tensor> kept = detached(before);
  kept.insert(kept.end(), first.state().begin(), first.state().end());
  const std::vector<Tensor> read = saved_and_read(kept, call.device);
  const Tensor state = saved_and_read({own.state()}, c10::kCPU)[0];

  own.seed(kSeed + 1);                                  // another process would be somewhere else
  std::vector<Tensor> after = {read[0].clone().requires_grad_(true), read[1].clone().requires_grad_(true)};
  Optimizer second(settings, detached(after));
  reload(second, {read.begin() + 2, read.end()}, kSavedAt);
  own.set_state(state);
  train_steps(call, after, second, kSteps - kSavedAt);
  return {{"same", equal_each(detached(whole), detached(after))}};
}

Outputs generator(const ProgramCall& call, const Restore& restore) {
  const c10::NoGradGuard no_grad;
  Generator own(call.device);
  own.seed(kSeed);
  const Tensor state = own.state();
  const auto draw = [&] { return at::rand_like(call.inputs.at("x")); };
  const Tensor first = draw(), next = draw();
  restore(own, state);
  const Tensor again = draw();
  return {{"same", truth(again.equal(first))}, {"moves", truth(!next.equal(first))}};
}

}  // namespace driftgate::mechanic
