#pragma once
// SGD with momentum, Adam and AdamW over at::Tensor lists, with the operators and in the order that torch.optim uses for each of its
// forms: a loop over the parameters, the _foreach_ operators, one _fused_ operator.
#include <ATen/ATen.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "json.hpp"

namespace driftgate {

enum class OptimizerKind : std::uint8_t { sgd, adam, adamw };
enum class OptimizerForm : std::uint8_t { plain, foreach, fused };

struct OptimizerSettings {
  OptimizerKind kind = OptimizerKind::adamw;
  OptimizerForm form = OptimizerForm::plain;
  double lr = 1e-3, momentum = 0.9, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
};

// "optimizer" and "lr"; optional "form", "momentum", "beta2", "eps", "weight_decay". Error `bad_optimizer`.
OptimizerSettings read_optimizer(ObjectReader& settings);

class Optimizer {
 public:
  // The parameters are written in place; the state has their dtype, device and strides.
  Optimizer(OptimizerSettings settings, std::vector<at::Tensor> parameters);
  // gradients: one a parameter. Runs without recording gradients of its own.
  void step(const std::vector<at::Tensor>& gradients);

  // Momentum buffers, or first and second moments; with the count of steps all that a resumed run needs.
  std::vector<at::Tensor>& state() { return state_; }
  std::int64_t steps() const { return steps_; }
  void resume(std::int64_t steps) { steps_ = steps; }

 private:
  void sgd(const std::vector<at::Tensor>& gradients);
  void adam(const std::vector<at::Tensor>& gradients);
  void sgd_fused(const std::vector<at::Tensor>& gradients);
  void adam_fused(const std::vector<at::Tensor>& gradients);
  std::vector<at::Tensor> half_of_state(std::size_t half) const;

  OptimizerSettings settings_;
  std::vector<at::Tensor> parameters_;
  std::vector<at::Tensor> state_;
  std::int64_t steps_ = 0;
};

// torch.amp.GradScaler: the loss is scaled, gradients are unscaled and looked at, a step with an infinity or NaN is skipped.
class GradScaler {
 public:
  GradScaler(const c10::Device& device, double initial, std::int64_t growth_interval);
  at::Tensor scaled(const at::Tensor& loss) const { return loss * scale_.to(loss.scalar_type()); }
  // Unscales in place; true when every gradient is finite.
  bool unscale(const std::vector<at::Tensor>& gradients);
  void update();                                        // halves the scale after a skipped step, doubles it after `growth_interval` good ones
  const at::Tensor& scale() const { return scale_; }    // fp32, no dims

 private:
  at::Tensor scale_, growth_, found_;
  std::int64_t interval_;
};

}  // namespace driftgate
