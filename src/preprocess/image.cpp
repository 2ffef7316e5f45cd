#include "preprocess/image.hpp"

#include <ATen/ATen.h>

#include <algorithm>

#include "error.hpp"

namespace driftgate::preprocess {
namespace {

// Constants, made in fp64 and rounded once, before a device that may not have fp64 sees them.
at::Tensor constants(const std::vector<double>& values, at::IntArrayRef shape, const at::Tensor& like) {
  return at::tensor(values, c10::kDouble).view(shape).to(like.scalar_type()).to(like.device());
}

at::Tensor channels(const std::vector<double>& values, const at::Tensor& like) { return constants(values, {-1, 1, 1}, like); }

// [3, 3] times the channels, plus an offset for each.
at::Tensor mix(const at::Tensor& pictures, const std::vector<double>& matrix, const std::vector<double>& before, const std::vector<double>& after) {
  return at::einsum("oc,nchw->nohw", {constants(matrix, {3, 3}, pictures), pictures + channels(before, pictures)}) + channels(after, pictures);
}

}  // namespace

at::Tensor resize(const at::Tensor& pictures, const Resize& how) {
  if (how.mode == "nearest") return at::upsample_nearest2d(pictures, how.size);
  if (how.mode == "nearest_exact") return at::_upsample_nearest_exact2d(pictures, how.size);
  if (how.mode == "bilinear")
    return how.antialias ? at::_upsample_bilinear2d_aa(pictures, how.size, how.align_corners) : at::upsample_bilinear2d(pictures, how.size, how.align_corners);
  if (how.mode == "bicubic")
    return how.antialias ? at::_upsample_bicubic2d_aa(pictures, how.size, how.align_corners) : at::upsample_bicubic2d(pictures, how.size, how.align_corners);
  throw Error("bad_setting", "mode", "'" + how.mode + "' is no way to resize", "nearest, nearest_exact, bilinear or bicubic");
}

at::Tensor pad(const at::Tensor& pictures, const Padding& how) {
  if (how.mode == "constant") return at::constant_pad_nd(pictures, how.sides, how.value);
  if (how.mode == "reflect") return at::reflection_pad2d(pictures, how.sides);
  if (how.mode == "replicate") return at::replication_pad2d(pictures, how.sides);
  throw Error("bad_setting", "mode", "'" + how.mode + "' is no padding", "constant, reflect or replicate");
}

at::Tensor centre_crop(const at::Tensor& pictures, std::int64_t height, std::int64_t width) {
  const std::int64_t missing_h = std::max<std::int64_t>(0, height - pictures.size(2)), missing_w = std::max<std::int64_t>(0, width - pictures.size(3));
  at::Tensor whole = pictures;
  if (missing_h > 0 || missing_w > 0)
    whole = pad(pictures, {"constant", {missing_w / 2, missing_w - missing_w / 2, missing_h / 2, missing_h - missing_h / 2}, 0});
  return whole.narrow(2, (whole.size(2) - height) / 2, height).narrow(3, (whole.size(3) - width) / 2, width);
}

at::Tensor normalise(const at::Tensor& levels, at::ScalarType dtype, const std::vector<double>& mean, const std::vector<double>& deviation) {
  const at::Tensor scaled = levels.to(dtype).div(255);
  return scaled.sub(channels(mean, scaled)).div(channels(deviation, scaled));
}

at::Tensor to_levels(const at::Tensor& pictures) { return pictures.round().clamp(0, 255).to(c10::kByte); }

at::Tensor rgb_to_gray(const at::Tensor& rgb) { return (rgb * channels({0.299, 0.587, 0.114}, rgb)).sum(1, /*keepdim=*/true); }

at::Tensor rgb_to_ycbcr(const at::Tensor& rgb) {
  return mix(rgb, {0.299, 0.587, 0.114, -0.168735892, -0.331264108, 0.5, 0.5, -0.418687589, -0.081312411}, {0, 0, 0}, {0, 128, 128});
}

at::Tensor ycbcr_to_rgb(const at::Tensor& ycbcr) {
  return mix(ycbcr, {1, 0, 1.402, 1, -0.344136286, -0.714136286, 1, 1.772, 0}, {0, -128, -128}, {0, 0, 0});
}

}  // namespace driftgate::preprocess
