// What tasks share: the list of them, the loss, and text that follows a rule.
#include <ATen/ATen.h>
#include <fmt/format.h>

#include <array>

#include "error.hpp"
#include "training/tasks.hpp"

namespace driftgate {

const std::vector<TrainingTask>& training_tasks() {
  static const std::vector<TrainingTask> all = {tasks::mlp(), tasks::conv(), tasks::gpt(), tasks::recommender(), tasks::lstm()};
  return all;
}

const TrainingTask& find_task(const std::string& name) {
  for (const TrainingTask& task : training_tasks())
    if (task.name == name) return task;
  throw Error("unknown_program", name, "there is no such training task");
}

namespace tasks {
namespace {

constexpr std::int64_t kSuccessors = 4;
// Of 32 choices, by rank of the successor; -1 keeps the token that was drawn.
constexpr std::array<int, 32> kRank = {-1, 3, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};

at::Tensor markov_text(const at::Tensor& successors, const at::Tensor& choice, const at::Tensor& drawn) {
  const at::Tensor next = successors.to(c10::kCPU).contiguous(), choices = choice.to(c10::kCPU).contiguous();
  at::Tensor text = drawn.to(c10::kCPU).contiguous().clone();
  auto* tokens = static_cast<std::int64_t*>(text.mutable_data_ptr());
  const auto* chosen = static_cast<const std::int64_t*>(choices.const_data_ptr());
  const auto* follows = static_cast<const std::int64_t*>(next.const_data_ptr());
  const std::int64_t length = text.size(-1);
  for (std::int64_t i = 0; i < text.numel(); ++i) {
    const int rank = i % length == 0 ? -1 : kRank[static_cast<std::size_t>(chosen[i])];
    if (rank >= 0) tokens[i] = follows[tokens[i - 1] * kSuccessors + rank];
  }
  return text.to(drawn.device());
}

}  // namespace

ProgramInput of_dtype(ProgramInput input, DType dtype) {
  input.tensor.dtype = dtype;
  return input;
}

ProgramInput whole_numbers(std::string name, Shape shape, std::int64_t low, std::int64_t high) {
  return of_dtype(data(std::move(name), std::move(shape), fmt::format("integers(low={}, high={})", low, high)), DType::i64);
}

at::Tensor widened(const at::Tensor& logits) { return logits.scalar_type() == c10::kDouble ? logits : logits.to(c10::kFloat); }

at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets) {
  return at::cross_entropy_loss(widened(logits).reshape({-1, logits.size(-1)}), targets.reshape({-1}));
}

std::vector<ProgramInput> text_inputs(std::int64_t samples, std::int64_t length, std::int64_t tokens, std::int64_t held) {
  const auto ranks = static_cast<std::int64_t>(kRank.size());
  return {indices("rule.successors", {tokens, kSuccessors}, tokens),
          indices("batch.text", {kTrainingSteps, samples, length}, tokens),
          indices("batch.choice", {kTrainingSteps, samples, length}, ranks),
          indices("held.text", {held, length}, tokens),
          indices("held.choice", {held, length}, ranks)};
}

void derive_text(Tensors& inputs) {
  for (const std::string part : {"batch.", "held."})
    inputs[part + "text"] = markov_text(inputs.at("rule.successors"), inputs.at(part + "choice"), inputs.at(part + "text"));
}

}  // namespace tasks
}  // namespace driftgate
