#include <ATen/ATen.h>

#include "training/tasks.hpp"

namespace driftgate::tasks {
namespace {

constexpr std::int64_t kSamples = 64, kFeatures = 32, kWidth = 64, kClasses = 10, kHeld = 512;
constexpr double kKept = 0.9;

std::vector<ProgramInput> inputs() {
  return {parameter("w1", {kWidth, kFeatures}, 0.177), parameter("b1", {kWidth}, 0.02),
          parameter("w2", {kWidth, kWidth}, 0.125),    parameter("b2", {kWidth}, 0.02),
          parameter("w3", {kClasses, kWidth}, 0.125),  parameter("b3", {kClasses}, 0.02),
          whole_numbers("rule.teacher", {kFeatures, kClasses}, -3, 3),
          data("batch.x", {kTrainingSteps, kSamples, kFeatures}, "integers(low=-8, high=8)"),
          of_dtype(data("batch.mask", {kTrainingSteps, kSamples, kWidth}, "bernoulli(p=0.9)"), DType::boolean),
          data("held.x", {kHeld, kFeatures}, "integers(low=-8, high=8)")};
}

// The class with the largest score of the teacher; the class's own number breaks ties.
at::Tensor classes(const at::Tensor& x, const at::Tensor& teacher) {
  const at::Tensor scores = at::matmul(x.to(c10::kCPU).to(c10::kDouble), teacher.to(c10::kCPU).to(c10::kDouble));
  return (scores * 64 + at::arange(kClasses, c10::kDouble)).argmax(-1).to(x.device());
}

void derive(Tensors& inputs) {
  for (const std::string part : {"batch.", "held."}) {
    at::Tensor& x = inputs.at(part + "x");
    inputs[part + "y"] = classes(x, inputs.at("rule.teacher"));
    x = x / 4;
  }
}

at::Tensor loss(const Tensors& t, bool training) {
  at::Tensor h = at::gelu(at::linear(t.at("x"), t.at("w1"), t.at("b1")));
  if (training) h = h * t.at("mask") / kKept;
  h = at::gelu(at::linear(h, t.at("w2"), t.at("b2")));
  return cross_entropy(at::linear(h, t.at("w3"), t.at("b3")), t.at("y"));
}

}  // namespace

TrainingTask mlp() { return {"training::mlp", inputs, derive, loss}; }

}  // namespace driftgate::tasks
