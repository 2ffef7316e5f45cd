// From JPEG files to the class that a small convnet finds: decode, resize, crop, normalise, two convolutions, a head.
#include <ATen/ATen.h>

#include <fmt/format.h>

#include "error.hpp"
#include "preprocess/image.hpp"
#include "preprocess/programs.hpp"
#include "preprocess/source.hpp"

namespace driftgate::preprocess {
namespace {

constexpr std::int64_t kWidth = 16;
// The class is told apart from the next one by this share of the spread of the scores: a rounding cannot decide between them.
constexpr double kLeastMargin = 0.1;

struct Pipeline {
  std::vector<std::string> pictures;
  Resize how;
  std::int64_t crop, classes;
  explicit Pipeline(ObjectReader& settings) : pictures(settings.strings("pictures")), crop(settings.integer("crop")), classes(settings.integer("classes")) {
    how.mode = settings.string("mode");
    const auto size = integers(settings, "size", 2);
    how.size = {size[0], size[1]};
    how.antialias = settings.boolean("antialias", false);
  }
};

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const Pipeline pipeline(settings);
  std::vector<ProgramInput> made;
  for (std::size_t i = 0; i < pipeline.pictures.size(); ++i) made.push_back(jpeg_input(fmt::format("jpeg{}", i), pipeline.pictures[i]));
  made.push_back(parameter("conv1.weight", {kWidth, 3, 3, 3}, 0.3));
  made.push_back(parameter("conv2.weight", {2 * kWidth, kWidth, 3, 3}, 0.12));
  made.push_back(parameter("head.weight", {pipeline.classes, 2 * kWidth * 4}, 0.5));
  return made;
}

at::Tensor scores(const Tensors& t, const at::Tensor& pictures) {
  at::Tensor x = at::relu(at::conv2d(pictures, t.at("conv1.weight"), {}, {2, 2}, {1, 1}));
  x = at::relu(at::conv2d(x, t.at("conv2.weight"), {}, {2, 2}, {1, 1}));
  return at::linear(at::adaptive_avg_pool2d(x, {2, 2}).flatten(1), t.at("head.weight"));
}

void demand_margin(const at::Tensor& logits, const std::string& where) {
  const at::Tensor two = std::get<0>(logits.topk(2, 1));
  const double margin = ((two.select(1, 0) - two.select(1, 1)) / logits.std(1)).min().item<double>();
  if (!(margin >= kLeastMargin))
    throw Error("small_margin", where, fmt::format("the two best classes are {:.3g} of a deviation apart, less than {}", margin, kLeastMargin), "other pictures");
}

std::vector<NamedTensor> run(const ProgramCall& call) {
  ObjectReader settings(call.settings, call.where);
  const Pipeline pipeline(settings);
  const at::ScalarType dtype = working_dtype(call);
  std::vector<at::Tensor> batch;
  for (std::size_t i = 0; i < pipeline.pictures.size(); ++i) {
    const at::Tensor pixels = decoded(call.inputs.at(fmt::format("jpeg{}", i)), call.where).to(call.device);
    batch.push_back(centre_crop(to_levels(resize(to_pictures(pixels).to(dtype), pipeline.how)), pipeline.crop, pipeline.crop));
  }
  const at::Tensor levels = at::cat(batch);
  const at::Tensor logits = scores(call.inputs, normalise(levels, dtype, {0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}));
  if (call.reference) demand_margin(logits, call.where);
  return {{"levels", levels}, {"top1", logits.argmax(1)}};
}

}  // namespace

Program classify() { return {"preprocess::classify", inputs, run}; }

}  // namespace driftgate::preprocess
