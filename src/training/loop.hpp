#pragma once
// A training run as a program: from declared inputs (starting weights, data, a rule to learn) to its trajectories.
//
// Outputs: "loss" [200], "grad_norm" [200] over all parameters, "grad_norms" [parameters, 25] of each at every eighth step, "held_out"
// [1], the loss on data that was not trained on, and under amp_fp16 "scale" [200], of the gradient scaler. All fp32, fp64 in the reference.
// A step that the scaler skips has the gradient norm 0.
//
// Inputs by name: "batch.*" [200, samples, …] is the data of each step, "held.*" [samples, …] what is held out, "rule.*" what the data
// follows (the model does not see it), "buffer.*" running statistics; the rest are the parameters.
#include <functional>
#include <string>
#include <vector>

#include "models/program.hpp"
#include "training/optimizer.hpp"

namespace driftgate {

inline constexpr std::int64_t kTrainingSteps = 200, kNormStride = 8;

struct TrainingTask {
  std::string name;                                     // "training::mlp"
  std::vector<ProgramInput> (*inputs)();
  // Makes the data that follows the rule, on the CPU and in exact arithmetic: every machine and every dtype gets the same values.
  void (*derive)(Tensors& inputs);
  // The mean loss of a batch: parameters, buffers and data by name, without prefixes.
  at::Tensor (*loss)(const Tensors& named, bool training);
};

// How a run departs from the whole and honest one: what the mechanics and the tests need.
struct TrainingHooks {
  std::int64_t steps = kTrainingSteps;
  std::function<void(std::int64_t step, Tensors& batch)> batch;
  std::function<void(std::int64_t step, std::vector<at::Tensor>& gradients)> gradients;    // as the optimizer gets them
  std::function<void(std::int64_t step, std::vector<at::Tensor>& parameters)> updated;
  std::function<bool(GradScaler& scaler, std::vector<at::Tensor>& gradients)> unscale;     // in place of GradScaler::unscale
};

std::vector<NamedTensor> train(const TrainingTask& task, const ProgramCall& call, const TrainingHooks& hooks = {});
// Settings: those of read_optimizer.
Program make_training(const TrainingTask& task);

const std::vector<TrainingTask>& training_tasks();
const TrainingTask& find_task(const std::string& name);                      // Error `unknown_program`

}  // namespace driftgate
