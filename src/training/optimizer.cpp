#include "training/optimizer.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "error.hpp"

namespace driftgate {
namespace {

double power(double base, std::int64_t exponent) {
  double product = 1;
  for (std::int64_t i = 0; i < exponent; ++i) product *= base;
  return product;
}

std::vector<at::Scalar> repeated(double value, std::size_t n) { return std::vector<at::Scalar>(n, at::Scalar(value)); }

OptimizerKind parse_kind(const std::string& name, const std::string& where) {
  if (name == "sgd") return OptimizerKind::sgd;
  if (name == "adam") return OptimizerKind::adam;
  if (name == "adamw") return OptimizerKind::adamw;
  throw Error("bad_optimizer", where, "unknown optimizer '" + name + "'", "sgd, adam or adamw");
}

OptimizerForm parse_form(const std::string& name, const std::string& where) {
  if (name == "plain") return OptimizerForm::plain;
  if (name == "foreach") return OptimizerForm::foreach;
  if (name == "fused") return OptimizerForm::fused;
  throw Error("bad_optimizer", where, "unknown form '" + name + "'", "plain, foreach or fused");
}

}  // namespace

OptimizerSettings read_optimizer(ObjectReader& settings) {
  OptimizerSettings read;
  read.kind = parse_kind(settings.string("optimizer"), settings.where("optimizer"));
  read.form = parse_form(settings.string("form", "plain"), settings.where("form"));
  read.lr = settings.real("lr");
  read.momentum = settings.real("momentum", read.momentum);
  read.beta2 = settings.real("beta2", read.beta2);
  read.eps = settings.real("eps", read.eps);
  read.weight_decay = settings.real("weight_decay", read.weight_decay);
  return read;
}

Optimizer::Optimizer(OptimizerSettings settings, std::vector<at::Tensor> parameters) : settings_(settings), parameters_(std::move(parameters)) {
  const int moments = settings_.kind == OptimizerKind::sgd ? 1 : 2;
  for (int moment = 0; moment < moments; ++moment)
    for (const at::Tensor& parameter : parameters_) state_.push_back(at::zeros_like(parameter, parameter.options(), at::MemoryFormat::Preserve));
}

std::vector<at::Tensor> Optimizer::half_of_state(std::size_t half) const {
  const std::size_t n = parameters_.size();
  return {state_.begin() + static_cast<std::ptrdiff_t>(half * n), state_.begin() + static_cast<std::ptrdiff_t>((half + 1) * n)};
}

void Optimizer::step(const std::vector<at::Tensor>& gradients) {
  c10::NoGradGuard no_grad;
  ++steps_;
  const bool fused = settings_.form == OptimizerForm::fused;
  if (settings_.kind == OptimizerKind::sgd)
    fused ? sgd_fused(gradients) : sgd(gradients);
  else
    fused ? adam_fused(gradients) : adam(gradients);
}

// The first step takes the gradient as it is for the momentum: 0 * momentum + gradient is the same bits.
void Optimizer::sgd(const std::vector<at::Tensor>& gradients) {
  const OptimizerSettings& s = settings_;
  if (s.form == OptimizerForm::foreach) {
    std::vector<at::Tensor> decayed = s.weight_decay == 0 ? gradients : at::_foreach_add(gradients, parameters_, s.weight_decay);
    at::_foreach_mul_(state_, s.momentum);
    at::_foreach_add_(state_, decayed, 1);
    at::_foreach_add_(parameters_, state_, -s.lr);
    return;
  }
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor decayed = s.weight_decay == 0 ? gradients[i] : gradients[i].add(parameters_[i], s.weight_decay);
    state_[i].mul_(s.momentum).add_(decayed);
    parameters_[i].add_(state_[i], -s.lr);
  }
}

void Optimizer::adam(const std::vector<at::Tensor>& gradients) {
  const OptimizerSettings& s = settings_;
  const bool decoupled = s.kind == OptimizerKind::adamw;
  const double step_size = s.lr / (1 - power(s.beta1, steps_)), correction = std::sqrt(1 - power(s.beta2, steps_));
  const std::size_t n = parameters_.size();
  if (s.form == OptimizerForm::foreach) {
    std::vector<at::Tensor> first = half_of_state(0), second = half_of_state(1), decayed = gradients;
    if (s.weight_decay != 0 && decoupled) at::_foreach_mul_(parameters_, 1 - s.lr * s.weight_decay);
    if (s.weight_decay != 0 && !decoupled) decayed = at::_foreach_add(gradients, parameters_, s.weight_decay);
    at::_foreach_lerp_(first, decayed, 1 - s.beta1);
    at::_foreach_mul_(second, s.beta2);
    at::_foreach_addcmul_(second, decayed, decayed, 1 - s.beta2);
    std::vector<at::Tensor> root = at::_foreach_sqrt(second);
    at::_foreach_div_(root, repeated(correction, n));
    at::_foreach_add_(root, s.eps);
    at::_foreach_addcdiv_(parameters_, first, root, repeated(-step_size, n));
    return;
  }
  for (std::size_t i = 0; i < n; ++i) {
    at::Tensor decayed = gradients[i];
    if (s.weight_decay != 0 && decoupled) parameters_[i].mul_(1 - s.lr * s.weight_decay);
    if (s.weight_decay != 0 && !decoupled) decayed = gradients[i].add(parameters_[i], s.weight_decay);
    state_[i].lerp_(decayed, 1 - s.beta1);
    state_[n + i].mul_(s.beta2).addcmul_(decayed, decayed, 1 - s.beta2);
    parameters_[i].addcdiv_(state_[i], (state_[n + i].sqrt() / correction).add_(s.eps), -step_size);
  }
}

void Optimizer::sgd_fused(const std::vector<at::Tensor>& gradients) {
  const OptimizerSettings& s = settings_;
  at::_fused_sgd_(parameters_, gradients, state_, s.weight_decay, s.momentum, s.lr, 0, false, false, steps_ == 1);
}

void Optimizer::adam_fused(const std::vector<at::Tensor>& gradients) {
  const OptimizerSettings& s = settings_;
  std::vector<at::Tensor> first = half_of_state(0), second = half_of_state(1), counts;
  for (const at::Tensor& parameter : parameters_)
    counts.push_back(at::full({}, static_cast<double>(steps_), at::TensorOptions().dtype(at::kFloat).device(parameter.device())));
  if (s.kind == OptimizerKind::adamw)
    at::_fused_adamw_(parameters_, gradients, first, second, {}, counts, s.lr, s.beta1, s.beta2, s.weight_decay, s.eps, false, false);
  else
    at::_fused_adam_(parameters_, gradients, first, second, {}, counts, s.lr, s.beta1, s.beta2, s.weight_decay, s.eps, false, false);
}

GradScaler::GradScaler(const c10::Device& device, double initial, std::int64_t growth_interval) : interval_(growth_interval) {
  const auto options = at::TensorOptions().dtype(at::kFloat).device(device);
  scale_ = at::full({}, initial, options);
  growth_ = at::zeros({}, options.dtype(at::kInt));
  found_ = at::zeros({}, options);
}

bool GradScaler::unscale(const std::vector<at::Tensor>& gradients) {
  c10::NoGradGuard no_grad;
  found_.zero_();
  at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_, scale_.reciprocal());
  return found_.item<float>() == 0;
}

void GradScaler::update() {
  c10::NoGradGuard no_grad;
  at::_amp_update_scale_(scale_, growth_, found_, 2.0, 0.5, interval_);
}

}  // namespace driftgate
