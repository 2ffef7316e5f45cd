// A language model of two causal blocks, its head tied to the token embedding of 50,257 rows.
#include <ATen/ATen.h>

#include "models/models.hpp"
#include "models/transformer.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kDepth = 2;

std::string block_name(std::int64_t i) { return "block" + std::to_string(i); }

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), tokens = settings.integer("tokens"), width = settings.integer("width");
  const std::int64_t vocabulary = settings.integer("vocabulary");
  settings.integer("heads");
  std::vector<ProgramInput> made = {indices("tokens", {batch, tokens}, vocabulary), indices("labels", {batch, tokens}, vocabulary)};
  made.push_back(parameter("embedding", {vocabulary, width}, 0.1));
  made.push_back(parameter("positions", {tokens, width}, 0.1));
  for (std::int64_t i = 0; i < kDepth; ++i) add_block(made, block_name(i), width);
  add_norm(made, "norm", width);
  return made;
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader& settings) {
  const std::int64_t heads = settings.integer("heads");
  at::Tensor x = at::embedding(t.at("embedding"), t.at("tokens")).add(t.at("positions"));
  for (std::int64_t i = 0; i < kDepth; ++i) x = block(t, block_name(i), x, heads, true);
  const at::Tensor logits = at::linear(layer_norm(t, "norm", x), t.at("embedding"));
  return {{"logits", logits}, {"loss", at::cross_entropy_loss(logits.flatten(0, 1), t.at("labels").flatten())}};
}

}  // namespace

Program gpt() { return make_model("model::gpt", inputs, forward); }

}  // namespace driftgate::models
