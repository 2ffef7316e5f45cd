// A vision transformer: patches by a strided convolution, a class token, two blocks.
#include <ATen/ATen.h>

#include "models/models.hpp"
#include "models/transformer.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kWidth = 64, kHeads = 4, kDepth = 2, kPatch = 8;

std::string block_name(std::int64_t i) { return "block" + std::to_string(i); }

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), size = settings.integer("size"), classes = settings.integer("classes");
  const std::int64_t patches = (size / kPatch) * (size / kPatch);
  std::vector<ProgramInput> made = {data("x", {batch, 3, size, size}), indices("labels", {batch}, classes)};
  add_convolution(made, "patch", 3, kWidth, kPatch, true);
  made.push_back(parameter("class_token", {1, 1, kWidth}, 0.02));
  made.push_back(parameter("positions", {1, patches + 1, kWidth}, 0.02));
  for (std::int64_t i = 0; i < kDepth; ++i) add_block(made, block_name(i), kWidth);
  add_norm(made, "norm", kWidth);
  add_linear(made, "head", kWidth, classes);
  return made;
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  at::Tensor x = convolution(t, "patch", t.at("x"), kPatch, 0).flatten(2).transpose(1, 2);
  x = at::cat({t.at("class_token").expand({x.size(0), 1, kWidth}).to(x.scalar_type()), x}, 1).add(t.at("positions"));
  for (std::int64_t i = 0; i < kDepth; ++i) x = block(t, block_name(i), x, kHeads, false);
  const at::Tensor logits = linear(t, "head", layer_norm(t, "norm", x).select(1, 0));
  return {{"logits", logits}, {"loss", at::cross_entropy_loss(logits, t.at("labels"))}};
}

}  // namespace

Program vit() { return make_model("model::vit", inputs, forward); }

}  // namespace driftgate::models
