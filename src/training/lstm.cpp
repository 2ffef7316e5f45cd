#include <ATen/ATen.h>

#include "training/tasks.hpp"

namespace driftgate::tasks {
namespace {

constexpr std::int64_t kSamples = 16, kLength = 10, kTokens = 64, kWidth = 32, kLayers = 2, kHeld = 128;

std::vector<ProgramInput> inputs() {
  std::vector<ProgramInput> made = text_inputs(kSamples, kLength + 1, kTokens, kHeld);
  made.push_back(parameter("tokens", {kTokens, kWidth}, 0.3));
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = std::to_string(i);
    made.push_back(parameter("w_ih" + layer, {4 * kWidth, kWidth}, 0.177));
    made.push_back(parameter("w_hh" + layer, {4 * kWidth, kWidth}, 0.177));
    made.push_back(parameter("b_ih" + layer, {4 * kWidth}, 0.02));
    made.push_back(parameter("b_hh" + layer, {4 * kWidth}, 0.02));
  }
  made.push_back(parameter("head", {kTokens, kWidth}, 0.177));
  made.push_back(parameter("bias", {kTokens}, 0.02));
  return made;
}

at::Tensor loss(const Tensors& t, bool) {
  const at::Tensor& text = t.at("text");
  std::vector<at::Tensor> weights;
  for (std::int64_t layer = 0; layer < kLayers; ++layer)
    for (const char* part : {"w_ih", "w_hh", "b_ih", "b_hh"}) weights.push_back(t.at(part + std::to_string(layer)));
  const at::Tensor x = at::embedding(t.at("tokens"), text.slice(1, 0, kLength));
  const at::Tensor start = at::zeros({kLayers, x.size(0), kWidth}, x.options());
  const at::Tensor h = std::get<0>(at::lstm(x, {start, start}, weights, /*has_biases=*/true, kLayers, /*dropout=*/0.0, /*train=*/true,
                                            /*bidirectional=*/false, /*batch_first=*/true));
  return cross_entropy(at::linear(h, t.at("head"), t.at("bias")), text.slice(1, 1, kLength + 1));
}

}  // namespace

TrainingTask lstm() { return {"training::lstm", inputs, derive_text, loss}; }

}  // namespace driftgate::tasks
