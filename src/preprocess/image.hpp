#pragma once
// What data loaders do to pictures, as tensor operators on a device. Pictures are [n, channels, height, width].
#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

namespace driftgate::preprocess {

struct Resize {
  std::string mode;                                     // nearest, nearest_exact, bilinear, bicubic
  std::array<std::int64_t, 2> size{};                   // height, width
  bool antialias = false, align_corners = false;        // of bilinear and bicubic
};

struct Padding {
  std::string mode;                                     // constant, reflect, replicate
  std::array<std::int64_t, 4> sides{};                  // left, right, top, bottom
  double value = 0;                                     // of constant
};

at::Tensor resize(const at::Tensor& pictures, const Resize& how);
at::Tensor pad(const at::Tensor& pictures, const Padding& how);
// The middle; a picture that is smaller is padded with zeros first.
at::Tensor centre_crop(const at::Tensor& pictures, std::int64_t height, std::int64_t width);
// 0 to 255 as 0 to 1, minus the mean of its channel, over its deviation. `dtype`: of the result and of all arithmetic.
at::Tensor normalise(const at::Tensor& levels, at::ScalarType dtype, const std::vector<double>& mean, const std::vector<double>& deviation);
// Rounded to the nearest level, ties to even, kept within 0 and 255, as u8.
at::Tensor to_levels(const at::Tensor& pictures);

// ITU-R BT.601 at full range, as JFIF (1992) defines it. Of floating tensors on the scale of 255, with three channels.
at::Tensor rgb_to_gray(const at::Tensor& rgb);
at::Tensor rgb_to_ycbcr(const at::Tensor& rgb);
at::Tensor ycbcr_to_rgb(const at::Tensor& ycbcr);

}  // namespace driftgate::preprocess
