// A small residual classifier of images: convolutions without bias, batch norm (over the batch, or by its running statistics), relu,
// max pooling. In training the running statistics are outputs too: they are written in place.
#include <ATen/ATen.h>

#include "models/model.hpp"
#include "models/models.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kWidth = 16;

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), size = settings.integer("size"), classes = settings.integer("classes");
  settings.boolean("train", true);
  std::vector<ProgramInput> made = {data("x", {batch, 3, size, size}), indices("labels", {batch}, classes)};
  add_convolution(made, "stem", 3, kWidth, 3, false);
  add_convolution(made, "first", kWidth, kWidth, 3, false);
  add_convolution(made, "second", kWidth, 2 * kWidth, 3, false);
  add_convolution(made, "shortcut", kWidth, 2 * kWidth, 1, false);
  for (const char* name : {"stem_norm", "first_norm", "second_norm"}) {
    const std::int64_t width = std::string_view(name) == "second_norm" ? 2 * kWidth : kWidth;
    add_norm(made, name, width);
    made.push_back(data(std::string(name) + ".running_mean", {width}, "normal(scale=0.1)"));
    made.push_back(data(std::string(name) + ".running_var", {width}, "uniform(low=0.5, high=1.5)"));
  }
  add_linear(made, "head", 2 * kWidth, classes);
  return made;
}

at::Tensor normed(const Tensors& t, const std::string& name, const at::Tensor& x, bool train) {
  return at::batch_norm(x, t.at(name + ".weight"), t.at(name + ".bias"), t.at(name + ".running_mean"), t.at(name + ".running_var"), train,
                        /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/true);
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader& settings) {
  const bool train = settings.boolean("train", true);
  at::Tensor x = at::relu(normed(t, "stem_norm", convolution(t, "stem", t.at("x"), 1, 1), train));
  x = at::relu(normed(t, "first_norm", convolution(t, "first", x, 1, 1), train)).add(x);
  x = at::max_pool2d(x, {2, 2});
  const at::Tensor shortcut = convolution(t, "shortcut", x, 2, 0);
  x = at::relu(normed(t, "second_norm", convolution(t, "second", x, 2, 1), train).add(shortcut));
  const at::Tensor logits = linear(t, "head", at::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
  std::vector<NamedTensor> outputs = {{"logits", logits}};
  if (train)
    for (const char* name : {"stem_norm.running_mean", "first_norm.running_var", "second_norm.running_var"}) outputs.push_back({name, t.at(name)});
  outputs.push_back({"loss", at::cross_entropy_loss(logits, t.at("labels"))});
  return outputs;
}

}  // namespace

Program convnet() { return make_model("model::convnet", inputs, forward); }

}  // namespace driftgate::models
