#include <fmt/format.h>
#include <fmt/ranges.h>

#include "error.hpp"
#include "models/models.hpp"
#include "models/program.hpp"
#include "preprocess/programs.hpp"
#include "training/loop.hpp"
#include "training/mechanics.hpp"

namespace driftgate {

const std::vector<Program>& programs() {
  static const std::vector<Program> all = [] {
    std::vector<Program> made = {models::convnet(), models::diffusion(), models::gpt(),         models::lstm(), models::minilm(),
                                 models::mlp(),     models::mtcnn(),     models::recommender(), models::unet(), models::vit()};
    for (const TrainingTask& task : training_tasks()) made.push_back(make_training(task));
    for (Program& program : mechanics()) made.push_back(std::move(program));
    for (const Program& program : preprocess::programs()) made.push_back(program);
    return made;
  }();
  return all;
}

const Program& find_program(const std::string& name, const std::string& where) {
  std::vector<std::string> names;
  for (const Program& program : programs()) {
    if (program.name == name) return program;
    names.push_back(program.name);
  }
  throw Error("unknown_program", where, fmt::format("there is no program '{}'", name), fmt::format("one of {}", fmt::join(names, ", ")));
}

ProgramInput data(std::string name, Shape shape, const std::string& fill) {
  Fill parsed = parse_fill(fill, name);
  return {std::move(name), {std::move(shape), std::move(parsed), std::nullopt}, false};
}

ProgramInput indices(std::string name, Shape shape, std::int64_t count) {
  ProgramInput input = data(std::move(name), std::move(shape), fmt::format("integers(low=0, high={})", count - 1));
  input.tensor.dtype = DType::i64;
  return input;
}

ProgramInput given(std::string name, Buffer value) {
  ProgramInput input{std::move(name), {value.shape, Fill{"given", {}, {}}, std::nullopt}, false};
  if (!is_float(value.dtype)) input.tensor.dtype = value.dtype;
  input.value = std::move(value);
  return input;
}

ProgramInput parameter(std::string name, Shape shape, double scale) { return parameter(std::move(name), std::move(shape), fmt::format("normal(scale={})", scale)); }

ProgramInput parameter(std::string name, Shape shape, const std::string& fill) {
  ProgramInput input = data(std::move(name), std::move(shape), fill);
  input.parameter = true;
  return input;
}

}  // namespace driftgate
