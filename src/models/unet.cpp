// A block of a U-Net: down by a strided convolution, up by bilinear interpolation, the skip concatenated, group norm and silu between.
#include <ATen/ATen.h>

#include "models/model.hpp"
#include "models/models.hpp"

namespace driftgate::models {
namespace {

constexpr std::int64_t kWidth = 16;

std::vector<ProgramInput> inputs(ObjectReader& settings) {
  const std::int64_t batch = settings.integer("batch"), size = settings.integer("size");
  std::vector<ProgramInput> made = {data("x", {batch, 3, size, size}), data("target", {batch, 1, size, size})};
  add_convolution(made, "enter", 3, kWidth, 3, true);
  add_norm(made, "enter_norm", kWidth);
  add_convolution(made, "down", kWidth, 2 * kWidth, 3, true);
  add_norm(made, "down_norm", 2 * kWidth);
  add_convolution(made, "bottom", 2 * kWidth, 2 * kWidth, 3, true);
  add_convolution(made, "up", 3 * kWidth, kWidth, 3, true);
  add_norm(made, "up_norm", kWidth);
  add_convolution(made, "leave", kWidth, 1, 1, true);
  return made;
}

std::vector<NamedTensor> forward(const Tensors& t, ObjectReader&) {
  const at::Tensor skip = at::silu(group_norm(t, "enter_norm", convolution(t, "enter", t.at("x"), 1, 1)));
  at::Tensor x = at::silu(group_norm(t, "down_norm", convolution(t, "down", skip, 2, 1)));
  x = at::silu(convolution(t, "bottom", x, 1, 1)).add(x);
  x = at::upsample_bilinear2d(x, {skip.size(2), skip.size(3)}, /*align_corners=*/false);
  x = at::silu(group_norm(t, "up_norm", convolution(t, "up", at::cat({skip, x.to(skip.scalar_type())}, 1), 1, 1)));
  const at::Tensor image = convolution(t, "leave", x, 1, 0);
  return {{"image", image}, {"loss", at::mse_loss(image.to(t.at("target").scalar_type()), t.at("target"))}};
}

}  // namespace

Program unet() { return make_model("model::unet", inputs, forward); }

}  // namespace driftgate::models
