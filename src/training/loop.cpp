#include "training/loop.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <limits>

#include "device/autocast.hpp"

namespace driftgate {
namespace {

constexpr double kFirstScale = 4096;
constexpr std::int64_t kGrowthInterval = 90;                      // a growth and two overflows within the run
constexpr std::array<std::int64_t, 2> kOverflows = {30, 110};     // steps whose scaled loss is infinite, under amp_fp16

double overflow(std::int64_t step) {
  return step == kOverflows[0] || step == kOverflows[1] ? std::numeric_limits<double>::infinity() : 1;
}

class Run {
 public:
  Run(const TrainingTask& task, const ProgramCall& call, const TrainingHooks& hooks)
      : task_(task), call_(call), hooks_(hooks), wide_(call.reference ? c10::kDouble : c10::kFloat) {
    Tensors inputs = call.inputs;
    task.derive(inputs);
    for (const auto& [name, tensor] : inputs) {
      const std::size_t dot = name.find('.');
      const std::string kind = name.substr(0, dot + 1);
      if (kind == "batch.") batches_[name.substr(dot + 1)] = tensor;
      if (kind == "held.") held_[name.substr(dot + 1)] = tensor;
      if (kind == "buffer.") named_[name.substr(dot + 1)] = tensor.clone();
    }
    for (const ProgramInput& input : call.declared)
      if (input.parameter) parameters_.push_back(named_[input.name] = inputs.at(input.name).detach().clone().requires_grad_(true));
  }

  std::vector<NamedTensor> outputs() {
    ObjectReader settings(call_.settings, call_.where);
    Optimizer optimizer(read_optimizer(settings), detached());
    const bool scaling = call_.policy == Policy::amp_fp16;
    GradScaler scaler(call_.device, scaling ? kFirstScale : 1, kGrowthInterval);
    for (std::int64_t step = 0; step < hooks_.steps; ++step) {
      const at::Tensor loss = loss_of(step);
      losses_.push_back(loss.detach().to(wide_));
      std::vector<at::Tensor> gradients = torch::autograd::grad({scaling ? scaler.scaled(loss) * overflow(step) : loss}, parameters_);
      const bool finite = !scaling || (hooks_.unscale ? hooks_.unscale(scaler, gradients) : scaler.unscale(gradients));
      if (hooks_.gradients) hooks_.gradients(step, gradients);
      add_norms(gradients, finite);
      if (finite) optimizer.step(gradients);
      if (scaling) scales_.push_back(scaler.scale().to(wide_, /*non_blocking=*/false, /*copy=*/true));
      if (scaling) scaler.update();
      if (hooks_.updated) hooks_.updated(step, parameters_);
    }
    return collect();
  }

 private:
  std::vector<at::Tensor> detached() const {
    std::vector<at::Tensor> plain;
    for (const at::Tensor& parameter : parameters_) plain.push_back(parameter.detach());
    return plain;
  }

  at::Tensor loss_with(const Tensors& data, bool training) const {
    Tensors named = named_;
    for (const auto& [name, tensor] : data) named[name] = tensor;
    const Autocast autocast(call_.device.type(), call_.reference ? Policy::fp32 : call_.policy);
    return task_.loss(named, training);
  }

  at::Tensor loss_of(std::int64_t step) const {
    Tensors batch;
    for (const auto& [name, tensor] : batches_) batch[name] = tensor.select(0, step);
    if (hooks_.batch) hooks_.batch(step, batch);
    return loss_with(batch, true);
  }

  void add_norms(const std::vector<at::Tensor>& gradients, bool finite) {
    std::vector<at::Tensor> norms;
    for (const at::Tensor& gradient : gradients) norms.push_back(at::linalg_vector_norm(gradient, 2, {}, false, wide_));
    const at::Tensor all = at::stack(norms);
    norms_.push_back(finite ? all : at::zeros_like(all));
  }

  std::vector<NamedTensor> collect() const {
    const c10::NoGradGuard no_grad;
    const at::Tensor norms = at::stack(norms_, 1);
    std::vector<NamedTensor> outputs = {{"loss", at::stack(losses_)},
                                        {"grad_norm", at::linalg_vector_norm(norms, 2, {0})},
                                        {"grad_norms", norms.slice(1, 0, hooks_.steps, kNormStride).contiguous()},
                                        {"held_out", loss_with(held_, false).to(wide_).reshape({1})}};
    if (!scales_.empty()) outputs.push_back({"scale", at::stack(scales_)});
    return outputs;
  }

  const TrainingTask& task_;
  const ProgramCall& call_;
  const TrainingHooks& hooks_;
  c10::ScalarType wide_;
  Tensors batches_, held_, named_;
  std::vector<at::Tensor> parameters_, losses_, norms_, scales_;
};

}  // namespace

std::vector<NamedTensor> train(const TrainingTask& task, const ProgramCall& call, const TrainingHooks& hooks) {
  const c10::AutoGradMode grad_mode(true);
  return Run(task, call, hooks).outputs();
}

Program make_training(const TrainingTask& task) {
  Program program{task.name, {}, {}};
  program.inputs = [task](ObjectReader& settings) {
    read_optimizer(settings);
    return task.inputs();
  };
  program.run = [task](const ProgramCall& call) { return train(task, call); };
  return program;
}

}  // namespace driftgate
