// A recommender: two bags of embeddings (one holds an empty bag), dense features, their pairwise products, a click probability.
#include <ATen/ATen.h>

#include "models/model.hpp"
#include "models/models.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kWidth = 16, kDense = 12;

// Starts of `bags` bags over 3 · bags indices: bags of 2, 4, 0, 6, … and so on in turn.
ProgramInput offsets(const std::string& name, std::int64_t bags) {
  constexpr std::int64_t kSizes[] = {2, 4, 0, 6};
  ProgramInput input = indices(name, {bags}, 1);
  input.tensor.fill = Fill{"values", {}, {}};
  std::int64_t start = 0;
  for (std::int64_t bag = 0; bag < bags; start += kSizes[bag++ % 4]) input.tensor.fill.values.push_back(static_cast<double>(start));
  return input;
}

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), rows = settings.integer("rows");
  std::vector<ProgramInput> made = {data("dense", {batch, kDense}), data("clicks", {batch}, "bernoulli(p=0.3)")};
  for (const char* name : {"user", "item"}) {
    made.push_back(indices(std::string(name) + ".indices", {3 * batch}, rows));
    made.push_back(offsets(std::string(name) + ".offsets", batch));
    made.push_back(parameter(std::string(name) + ".weight", {rows, kWidth}, 0.3));
  }
  add_linear(made, "bottom", kDense, kWidth);
  add_linear(made, "top", kWidth + 3, 2 * kWidth);
  add_linear(made, "score", 2 * kWidth, 1);
  return made;
}

at::Tensor bag(const Tensors& t, const std::string& name, std::int64_t mode) {
  return std::get<0>(at::embedding_bag(t.at(name + ".weight"), t.at(name + ".indices"), t.at(name + ".offsets"), /*scale_grad_by_freq=*/false, mode));
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  constexpr std::int64_t kSum = 0, kMean = 1;
  const at::Tensor dense = at::relu(linear(t, "bottom", t.at("dense")));
  const at::Tensor user = bag(t, "user", kSum).to(dense.scalar_type()), item = bag(t, "item", kMean).to(dense.scalar_type());
  const at::Tensor features = at::stack({dense, user, item}, 1);
  const at::Tensor products = at::bmm(features, features.transpose(1, 2));
  const at::Tensor crossed = at::stack({products.select(1, 0).select(1, 1), products.select(1, 0).select(1, 2), products.select(1, 1).select(1, 2)}, 1);
  const at::Tensor hidden = at::relu(linear(t, "top", at::cat({dense, crossed}, 1)));
  const at::Tensor scores = linear(t, "score", hidden).squeeze(1);
  return {{"scores", scores}, {"loss", at::binary_cross_entropy_with_logits(scores, t.at("clicks").to(scores.scalar_type()))}};
}

}  // namespace

Program recommender() { return make_model("model::recommender", inputs, forward); }

}  // namespace driftgate::models
