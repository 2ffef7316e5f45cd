// What moves levels and must not change them.
#include <ATen/ATen.h>

#include "error.hpp"
#include "preprocess/image.hpp"
#include "preprocess/programs.hpp"
#include "preprocess/source.hpp"

namespace driftgate::preprocess {
namespace {

using Move = std::function<at::Tensor(const ProgramCall& call, const at::Tensor& levels, ObjectReader& settings)>;
using Check = std::function<void(ObjectReader& settings)>;

Program move(std::string name, Check check, Move make) {
  return {std::move(name),
          [check](ObjectReader& settings) {
            check(settings);
            return std::vector<ProgramInput>{levels_input(settings)};
          },
          [make](const ProgramCall& call) {
            ObjectReader settings(call.settings, call.where);
            return std::vector<NamedTensor>{{"levels", make(call, call.inputs.at("levels"), settings)}};
          }};
}

at::Tensor crop(const ProgramCall&, const at::Tensor& levels, ObjectReader& settings) {
  const auto size = integers(settings, "size", 2);
  return centre_crop(levels, size[0], size[1]);
}

at::Tensor flip(const ProgramCall&, const at::Tensor& levels, ObjectReader& settings) { return levels.flip(integers(settings, "dims", 0)); }

Padding padding(ObjectReader& settings) {
  const auto sides = integers(settings, "sides", 4);
  return {settings.string("mode"), {sides[0], sides[1], sides[2], sides[3]}, settings.real("value", 0)};
}

// Through the policy's dtype, as a loader pads what it has already made float: every level is exact in each of them.
at::Tensor padded(const ProgramCall& call, const at::Tensor& levels, ObjectReader& settings) {
  return to_levels(pad(levels.to(working_dtype(call)), padding(settings)));
}

// [n, c, h, w] to [n, h, w, c] and back, or one of the two with its values as they then lie in memory.
at::Tensor layout(const ProgramCall&, const at::Tensor& levels, ObjectReader& settings) {
  const std::string to = settings.string("to");
  if (to == "channels_last") return levels.permute({0, 2, 3, 1}).contiguous();
  if (to == "round_trip") return levels.permute({0, 2, 3, 1}).contiguous().permute({0, 3, 1, 2}).contiguous();
  throw Error("bad_setting", settings.where("to"), "'" + to + "' is no layout", "channels_last or round_trip");
}

// Levels as 0 to 1 (or to another scale) and back.
at::Tensor round_trip(const ProgramCall& call, const at::Tensor& levels, ObjectReader& settings) {
  const double scale = settings.real("scale");
  return to_levels(levels.to(working_dtype(call)).div(scale).mul(scale));
}

// Crops at moving offsets, some flipped, stacked to a batch, from pinned memory where the device copies from it.
at::Tensor collate(const ProgramCall& call, const at::Tensor& levels, ObjectReader& settings) {
  const auto size = integers(settings, "size", 2);
  const std::int64_t count = settings.integer("count"), h = size[0], w = size[1];
  const bool pinned = settings.boolean("pinned", false) && call.device.is_cuda();
  std::vector<at::Tensor> crops;
  const at::Tensor source = pinned ? levels.cpu() : levels;
  for (std::int64_t i = 0; i < count; ++i) {
    const at::Tensor picture = source[i % source.size(0)];
    const at::Tensor part = picture.narrow(1, 3 * i % (picture.size(1) - h + 1), h).narrow(2, 5 * i % (picture.size(2) - w + 1), w);
    crops.push_back(i % 2 == 1 ? part.flip({2}) : part);
  }
  const at::Tensor batch = at::stack(crops).contiguous();
  return pinned ? batch.pin_memory().to(call.device, /*non_blocking=*/true) : batch;
}

}  // namespace

std::vector<Program> moves() {
  return {
      move("preprocess::crop", [](ObjectReader& s) { integers(s, "size", 2); }, crop),
      move("preprocess::flip", [](ObjectReader& s) { integers(s, "dims", 0); }, flip),
      move("preprocess::pad", [](ObjectReader& s) { padding(s); }, padded),
      move("preprocess::layout", [](ObjectReader& s) { s.string("to"); }, layout),
      move("preprocess::round_trip", [](ObjectReader& s) { s.real("scale"); }, round_trip),
      move("preprocess::collate",
           [](ObjectReader& s) {
             integers(s, "size", 2);
             s.integer("count");
             s.boolean("pinned", false);
           },
           collate),
  };
}

}  // namespace driftgate::preprocess
