#include <ATen/ATen.h>

#include "training/tasks.hpp"

namespace driftgate::tasks {
namespace {

constexpr std::int64_t kSamples = 64, kUsers = 100, kItems = 150, kHistory = 5, kWidth = 16, kHidden = 32, kFactors = 4, kHeld = 1024;

std::vector<ProgramInput> inputs() {
  std::vector<ProgramInput> made = {parameter("users", {kUsers, kWidth}, 0.3),        parameter("items", {kItems, kWidth}, 0.3),
                                    parameter("w1", {kHidden, 3 * kWidth}, 0.2),      parameter("b1", {kHidden}, 0.02),
                                    parameter("w2", {1, kHidden}, 0.2),               parameter("b2", {1}, 0.02),
                                    whole_numbers("rule.users", {kUsers, kFactors}, -3, 3), whole_numbers("rule.items", {kItems, kFactors}, -3, 3)};
  const auto add = [&](const std::string& part, const Shape& samples) {
    Shape history = samples;
    history.push_back(kHistory);
    made.push_back(indices(part + "user", samples, kUsers));
    made.push_back(indices(part + "item", samples, kItems));
    made.push_back(indices(part + "history", history, kItems));
  };
  add("batch.", {kTrainingSteps, kSamples});
  add("held.", {kHeld});
  return made;
}

// A click where the hidden factors of user and item agree.
void derive(Tensors& inputs) {
  const auto rows = [&](const std::string& rule, const at::Tensor& index) {
    const at::Tensor table = inputs.at(rule).to(c10::kCPU), flat = index.to(c10::kCPU).reshape({-1});
    return table.index_select(0, flat);
  };
  for (const std::string part : {"batch.", "held."}) {
    const at::Tensor& user = inputs.at(part + "user");
    const at::Tensor score = (rows("rule.users", user) * rows("rule.items", inputs.at(part + "item"))).sum(-1);
    inputs[part + "click"] = (score > 0).reshape(user.sizes()).to(user.device());
  }
}

at::Tensor loss(const Tensors& t, bool) {
  const at::Tensor& history = t.at("history");
  const at::Tensor offsets = at::arange(history.size(0), history.options()) * kHistory;
  const at::Tensor bag = std::get<0>(at::embedding_bag(t.at("items"), history.reshape({-1}), offsets, /*scale_grad_by_freq=*/false, /*mode=mean*/ 1));
  const at::Tensor user = at::embedding(t.at("users"), t.at("user")), item = at::embedding(t.at("items"), t.at("item"));
  const at::Tensor h = at::silu(at::linear(at::cat({user, item, bag}, 1), t.at("w1"), t.at("b1")));
  const at::Tensor logit = widened(at::linear(h, t.at("w2"), t.at("b2")).squeeze(1) + (user * item).sum(-1));
  return at::binary_cross_entropy_with_logits(logit, t.at("click").to(logit.scalar_type()));
}

}  // namespace

TrainingTask recommender() { return {"training::recommender", inputs, derive, loss}; }

}  // namespace driftgate::tasks
