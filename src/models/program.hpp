#pragma once
// A program: what a case of level model, training or preprocess runs. The same function runs on the device under test, on the card
// that makes the golden, and in fp64 on the CPU as the reference.
//
// It declares its tensors; the portable fills make them, in the policy's dtype unless it names another. It calls what a user's module
// would call, makes no tensor of random or uninitialised values, and takes every number that matters from its settings.
#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"

namespace driftgate {

struct ProgramInput {
  std::string name;                                     // "head.weight"; the fill's key ends with it
  TensorArgument tensor;
  bool parameter = false;                               // trained: the backward direction reports its gradient
  std::optional<Buffer> value = std::nullopt;           // instead of the fill: published weights, rounded to the policy's dtype
};

using Tensors = std::map<std::string, at::Tensor>;

struct NamedTensor {
  std::string name;                                     // "logits" and "loss" have a meaning: compare/metrics.hpp
  at::Tensor value;
};

// What a program knows of its run.
struct ProgramCall {
  const Tensors& inputs;                                // on the device; the floating ones are doubles in the reference
  const std::vector<ProgramInput>& declared;
  const Json& settings;
  const std::string& where;                             // of the settings, for messages
  Policy policy;
  Direction direction;
  c10::Device device;
  bool reference;                                       // fp64 on the CPU: no autocast
};

struct Program {
  std::string name;                                     // "model::mlp", as in a spec
  // Reads every setting: one that it does not ask for is an error of the spec.
  std::function<std::vector<ProgramInput>(ObjectReader& settings)> inputs;
  // Outputs of any device, in an order that depends on the settings and the direction alone.
  std::function<std::vector<NamedTensor>(const ProgramCall& call)> run;
};

inline constexpr const char* kWeightsMissing = "weights_missing";   // Error of `inputs`: published weights are not installed here

const std::vector<Program>& programs();
const Program& find_program(const std::string& name, const std::string& where);   // Error `unknown_program`

// A tensor in the policy's dtype, and one of whole numbers from 0 to count - 1.
ProgramInput data(std::string name, Shape shape, const std::string& fill = "normal");
ProgramInput indices(std::string name, Shape shape, std::int64_t count);
// A tensor that comes from a file.
ProgramInput given(std::string name, Buffer value);
// A parameter: normal with this scale, or another fill.
ProgramInput parameter(std::string name, Shape shape, double scale);
ProgramInput parameter(std::string name, Shape shape, const std::string& fill);

}  // namespace driftgate
