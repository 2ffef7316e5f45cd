// Decoding, resizing, colours and normalising.
#include <ATen/ATen.h>

#include "device/torch_types.hpp"
#include "error.hpp"
#include "preprocess/image.hpp"
#include "preprocess/programs.hpp"
#include "preprocess/source.hpp"

namespace driftgate::preprocess {
namespace {

std::vector<ProgramInput> decode_inputs(ObjectReader& settings) {
  const std::string picture = settings.string("picture");
  return {jpeg_input("jpeg", picture), pixels_input("golden", picture)};
}

std::vector<NamedTensor> run_decode(const ProgramCall& call) {
  if (call.reference) return {{"pixels", call.inputs.at("golden")}};
  return {{"pixels", decoded(call.inputs.at("jpeg"), call.where).to(call.device)}};
}

struct ResizeSettings {
  Resize how;
  bool levels = false;
  explicit ResizeSettings(ObjectReader& settings) {
    how.mode = settings.string("mode");
    const auto size = integers(settings, "size", 2);
    how.size = {size[0], size[1]};
    how.antialias = settings.boolean("antialias", false);
    how.align_corners = settings.boolean("align_corners", false);
    levels = settings.boolean("levels", false);
  }
};

std::vector<ProgramInput> resize_inputs(ObjectReader& settings) {
  const ResizeSettings checked(settings);
  return {levels_input(settings)};
}

std::vector<NamedTensor> run_resize(const ProgramCall& call) {
  ObjectReader settings(call.settings, call.where);
  const ResizeSettings how(settings);
  const at::Tensor& levels = call.inputs.at("levels");
  if (how.levels) return {{"levels", resize(levels, how.how)}};
  return {{"levels", to_levels(resize(levels.to(working_dtype(call)), how.how))}};
}

std::vector<ProgramInput> colour_inputs(ObjectReader& settings) {
  settings.string("to");
  return {levels_input(settings)};
}

std::vector<NamedTensor> run_colour(const ProgramCall& call) {
  ObjectReader settings(call.settings, call.where);
  const std::string to = settings.string("to");
  const at::Tensor levels = call.inputs.at("levels").to(working_dtype(call));
  if (to == "gray") return {{"levels", to_levels(rgb_to_gray(levels))}};
  if (to == "ycbcr") return {{"levels", to_levels(rgb_to_ycbcr(levels))}};
  if (to == "rgb") return {{"levels", to_levels(ycbcr_to_rgb(levels))}};
  if (to == "round_trip") return {{"levels", to_levels(ycbcr_to_rgb(to_levels(rgb_to_ycbcr(levels)).to(levels.scalar_type())))}};
  throw Error("bad_setting", settings.where("to"), "'" + to + "' is no colour space", "gray, ycbcr, rgb or round_trip");
}

std::vector<ProgramInput> normalise_inputs(ObjectReader& settings) {
  ProgramInput levels = levels_input(settings);
  const auto channels = static_cast<std::size_t>(levels.tensor.shape[1]);
  numbers(settings, "mean", channels);
  numbers(settings, "deviation", channels);
  settings.boolean("channels_last", false);
  return {std::move(levels)};
}

std::vector<NamedTensor> run_normalise(const ProgramCall& call) {
  ObjectReader settings(call.settings, call.where);
  at::Tensor levels = call.inputs.at("levels");
  const auto channels = static_cast<std::size_t>(levels.size(1));
  if (settings.boolean("channels_last", false)) levels = levels.contiguous(at::MemoryFormat::ChannelsLast);
  return {{"pictures", normalise(levels, working_dtype(call), numbers(settings, "mean", channels), numbers(settings, "deviation", channels))}};
}

}  // namespace

Program decode() { return {"preprocess::decode", decode_inputs, run_decode}; }
Program resize_program() { return {"preprocess::resize", resize_inputs, run_resize}; }
Program colour() { return {"preprocess::colour", colour_inputs, run_colour}; }
Program normalise_program() { return {"preprocess::normalise", normalise_inputs, run_normalise}; }

}  // namespace driftgate::preprocess
