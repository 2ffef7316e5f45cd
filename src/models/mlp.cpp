// A classifier of three linear layers with gelu between, and cross entropy.
#include <ATen/ATen.h>

#include "models/model.hpp"
#include "models/models.hpp"

namespace driftgate::models {
namespace {

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), in = settings.integer("in"), hidden = settings.integer("hidden"), classes = settings.integer("classes");
  std::vector<ProgramInput> made = {data("x", {batch, in}), indices("labels", {batch}, classes)};
  add_linear(made, "first", in, hidden);
  add_linear(made, "second", hidden, hidden);
  add_linear(made, "head", hidden, classes);
  return made;
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  at::Tensor x = at::gelu(linear(t, "first", t.at("x")));
  x = at::gelu(linear(t, "second", x), "tanh");
  const at::Tensor logits = linear(t, "head", x);
  return {{"logits", logits}, {"loss", at::cross_entropy_loss(logits, t.at("labels"))}};
}

}  // namespace

Program mlp() { return make_model("model::mlp", inputs, forward); }

}  // namespace driftgate::models
