// A language model of two LSTM layers, batch first. In training the dropout between them is a mask among the inputs, so that devices
// agree on what is dropped, and each layer is a call of its own; in evaluation it is one call of two layers with dropout off.
#include <ATen/ATen.h>

#include "device/without_cudnn.hpp"
#include "models/model.hpp"
#include "models/models.hpp"

namespace driftgate::models {
namespace {

constexpr double kDropout = 0.25;

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), tokens = settings.integer("tokens"), width = settings.integer("width");
  const std::int64_t vocabulary = settings.integer("vocabulary");
  std::vector<ProgramInput> made = {indices("tokens", {batch, tokens}, vocabulary), indices("labels", {batch, tokens}, vocabulary),
                                    data("hidden", {2, batch, width}), data("cell", {2, batch, width})};
  if (settings.boolean("train", true)) made.push_back(data("mask", {batch, tokens, width}, "bernoulli(p=0.75)"));
  made.push_back(parameter("embedding", {vocabulary, width}, 1));
  for (const char* layer : {"layer0", "layer1"}) {
    add_linear(made, std::string(layer) + ".input", width, 4 * width);
    add_linear(made, std::string(layer) + ".hidden", width, 4 * width);
  }
  add_linear(made, "head", width, vocabulary);
  return made;
}

std::vector<at::Tensor> layer(const Tensors& t, const std::string& name) {
  return {t.at(name + ".input.weight"), t.at(name + ".hidden.weight"), t.at(name + ".input.bias"), t.at(name + ".hidden.bias")};
}

at::Tensor run_layers(const at::Tensor& x, const at::Tensor& hidden, const at::Tensor& cell, const std::vector<at::Tensor>& weights, std::int64_t layers, bool train) {
  const WithoutCudnn without;
  return std::get<0>(at::lstm(x, {hidden, cell}, weights, /*has_biases=*/true, layers, train ? 0 : kDropout, train, /*bidirectional=*/false, /*batch_first=*/true));
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader& settings) {
  const at::Tensor& hidden = t.at("hidden");
  const at::Tensor& cell = t.at("cell");
  at::Tensor x = at::embedding(t.at("embedding"), t.at("tokens"));
  if (settings.boolean("train", true)) {
    x = run_layers(x, hidden.narrow(0, 0, 1).contiguous(), cell.narrow(0, 0, 1).contiguous(), layer(t, "layer0"), 1, true);
    x = x.mul(t.at("mask")).div(1 - kDropout).to(x.scalar_type());
    x = run_layers(x, hidden.narrow(0, 1, 1).contiguous(), cell.narrow(0, 1, 1).contiguous(), layer(t, "layer1"), 1, true);
  } else {
    std::vector<at::Tensor> weights = layer(t, "layer0");
    for (const at::Tensor& weight : layer(t, "layer1")) weights.push_back(weight);
    x = run_layers(x, hidden, cell, weights, 2, false);
  }
  const at::Tensor logits = linear(t, "head", x);
  return {{"logits", logits}, {"loss", at::cross_entropy_loss(logits.flatten(0, 1), t.at("labels").flatten())}};
}

}  // namespace

Program lstm() { return make_model("model::lstm", inputs, forward); }

}  // namespace driftgate::models
