#pragma once
// The training tasks, one file each: a model as functional C++ and data with a rule that 200 steps can learn.
//
// Every function in them is smooth. A relu is not: in half a million of its inputs one lies within a rounding of zero, two honest devices
// take different sides, and from that step on their runs differ by 10,000 times round-off (measured on the convolutional net).
#include "training/loop.hpp"

namespace driftgate::tasks {

TrainingTask mlp();                  // gelu, dropout by given masks: classes by a teacher of whole numbers
TrainingTask conv();                 // convolutions and batch norm: templates in noise
TrainingTask gpt();                  // causal attention, tied head: a Markov text
TrainingTask recommender();          // embedding tables and a bag: clicks by hidden factors
TrainingTask lstm();                 // two layers: the Markov text

ProgramInput whole_numbers(std::string name, Shape shape, std::int64_t low, std::int64_t high);
ProgramInput of_dtype(ProgramInput input, DType dtype);

// In fp32 (fp64 in the reference) whatever the logits are, as a user's float() makes them.
at::Tensor widened(const at::Tensor& logits);
at::Tensor cross_entropy(const at::Tensor& logits, const at::Tensor& targets);   // over the last dim, mean

// Inputs "rule.successors", and for "batch." and "held." each "text" and "choice" [.., length].
std::vector<ProgramInput> text_inputs(std::int64_t samples, std::int64_t length, std::int64_t tokens, std::int64_t held);
// Text by a rule: mostly, the successor of a token is one of its four; `choice` says which, and where it is any token.
void derive_text(Tensors& inputs);

}  // namespace driftgate::tasks
