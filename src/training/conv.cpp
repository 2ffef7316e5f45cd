#include <ATen/ATen.h>

#include <array>

#include "training/tasks.hpp"

namespace driftgate::tasks {
namespace {

constexpr std::int64_t kSamples = 16, kSide = 10, kClasses = 8, kHeld = 256;
constexpr std::array<std::int64_t, 4> kChannels = {1, 8, 16, 16};
constexpr double kMomentum = 0.1, kEpsilon = 1e-5;

std::vector<ProgramInput> inputs() {
  std::vector<ProgramInput> made;
  for (std::size_t i = 1; i < kChannels.size(); ++i) {
    const std::string layer = std::to_string(i);
    const double scale[] = {0, 0.47, 0.17, 0.12};
    made.push_back(parameter("conv" + layer, {kChannels[i], kChannels[i - 1], 3, 3}, scale[i]));
    made.push_back(parameter("scale" + layer, {kChannels[i]}, "normal(mean=1, scale=0.02)"));
    made.push_back(parameter("shift" + layer, {kChannels[i]}, 0.02));
    made.push_back(data("buffer.mean" + layer, {kChannels[i]}, "constant(value=0)"));
    made.push_back(data("buffer.var" + layer, {kChannels[i]}, "constant(value=1)"));
  }
  made.push_back(parameter("head", {kClasses, kChannels.back()}, 0.25));
  made.push_back(parameter("bias", {kClasses}, 0.02));
  made.push_back(whole_numbers("rule.templates", {kClasses, 1, kSide, kSide}, -2, 2));
  made.push_back(data("batch.x", {kTrainingSteps, kSamples, 1, kSide, kSide}, "integers(low=-7, high=7)"));
  made.push_back(indices("batch.y", {kTrainingSteps, kSamples}, kClasses));
  made.push_back(data("held.x", {kHeld, 1, kSide, kSide}, "integers(low=-7, high=7)"));
  made.push_back(indices("held.y", {kHeld}, kClasses));
  return made;
}

// The template of the sample's class in noise: quarters, which every format holds.
void derive(Tensors& inputs) {
  const at::Tensor templates = inputs.at("rule.templates").to(c10::kCPU).to(c10::kDouble);
  for (const std::string part : {"batch.", "held."}) {
    at::Tensor& x = inputs.at(part + "x");
    const at::Tensor shown = templates.index_select(0, inputs.at(part + "y").to(c10::kCPU).reshape({-1})).reshape(x.sizes());
    x = ((x.to(c10::kCPU).to(c10::kDouble) + 2 * shown) / 4).to(x.scalar_type()).to(x.device());
  }
}

at::Tensor block(const Tensors& t, const at::Tensor& x, const std::string& layer, std::int64_t stride, bool training) {
  const at::Tensor h = at::conv2d(x, t.at("conv" + layer), {}, stride, 1);
  return at::silu(at::batch_norm(h, t.at("scale" + layer), t.at("shift" + layer), t.at("mean" + layer), t.at("var" + layer), training, kMomentum, kEpsilon, true));
}

at::Tensor loss(const Tensors& t, bool training) {
  const at::Tensor h = block(t, block(t, block(t, t.at("x"), "1", 1, training), "2", 2, training), "3", 1, training);
  return cross_entropy(at::linear(h.mean({2, 3}), t.at("head"), t.at("bias")), t.at("y"));
}

}  // namespace

TrainingTask conv() { return {"training::conv", inputs, derive, loss}; }

}  // namespace driftgate::tasks
