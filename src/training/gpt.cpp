#include <ATen/ATen.h>

#include "training/tasks.hpp"

namespace driftgate::tasks {
namespace {

constexpr std::int64_t kSamples = 8, kLength = 16, kTokens = 64, kWidth = 32, kHeads = 2, kLayers = 2, kHeld = 64;

std::string layer_name(std::int64_t layer) { return "layer" + std::to_string(layer); }

std::vector<ProgramInput> inputs() {
  std::vector<ProgramInput> made = text_inputs(kSamples, kLength + 1, kTokens, kHeld);
  const auto add_norm = [&](const std::string& name) {
    made.push_back(parameter(name + ".weight", {kWidth}, "normal(mean=1, scale=0.02)"));
    made.push_back(parameter(name + ".bias", {kWidth}, 0.02));
  };
  made.push_back(parameter("tokens", {kTokens, kWidth}, 0.1));
  made.push_back(parameter("positions", {kLength, kWidth}, 0.02));
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = layer_name(i);
    add_norm(layer + ".norm1");
    made.push_back(parameter(layer + ".qkv", {3 * kWidth, kWidth}, 0.177));
    made.push_back(parameter(layer + ".out", {kWidth, kWidth}, 0.09));
    add_norm(layer + ".norm2");
    made.push_back(parameter(layer + ".up", {4 * kWidth, kWidth}, 0.177));
    made.push_back(parameter(layer + ".up_bias", {4 * kWidth}, 0.02));
    made.push_back(parameter(layer + ".down", {kWidth, 4 * kWidth}, 0.044));
    made.push_back(parameter(layer + ".down_bias", {kWidth}, 0.02));
  }
  add_norm("norm");
  return made;
}

at::Tensor norm(const Tensors& t, const at::Tensor& x, const std::string& name) {
  return at::layer_norm(x, {kWidth}, t.at(name + ".weight"), t.at(name + ".bias"));
}

at::Tensor attention(const Tensors& t, const at::Tensor& x, const std::string& layer) {
  const auto heads = [&](const at::Tensor& part) { return part.reshape({x.size(0), x.size(1), kHeads, kWidth / kHeads}).transpose(1, 2); };
  const std::vector<at::Tensor> parts = at::linear(x, t.at(layer + ".qkv")).chunk(3, -1);
  const at::Tensor mixed = at::scaled_dot_product_attention(heads(parts[0]), heads(parts[1]), heads(parts[2]), {}, 0.0, /*is_causal=*/true);
  return at::linear(mixed.transpose(1, 2).reshape(x.sizes()), t.at(layer + ".out"));
}

at::Tensor loss(const Tensors& t, bool) {
  const at::Tensor& text = t.at("text");
  at::Tensor x = at::embedding(t.at("tokens"), text.slice(1, 0, kLength)) + t.at("positions");
  for (std::int64_t i = 0; i < kLayers; ++i) {
    const std::string layer = layer_name(i);
    x = x + attention(t, norm(t, x, layer + ".norm1"), layer);
    const at::Tensor h = at::gelu(at::linear(norm(t, x, layer + ".norm2"), t.at(layer + ".up"), t.at(layer + ".up_bias")), "tanh");
    x = x + at::linear(h, t.at(layer + ".down"), t.at(layer + ".down_bias"));
  }
  return cross_entropy(at::linear(norm(t, x, "norm"), t.at("tokens")), text.slice(1, 1, kLength + 1));
}

}  // namespace

TrainingTask gpt() { return {"training::gpt", inputs, derive_text, loss}; }

}  // namespace driftgate::tasks
