#pragma once
// Winograd's minimal filtering F(m x m, 3 x 3) in fp32 (Lavin and Gray, 2016), m 2 or 4.
#include <ATen/ATen.h>

namespace driftgate {

// input [N, C, H, W], weight [O, C, 3, 3], contiguous fp32; stride 1, the same padding on all sides.
at::Tensor winograd3x3(const at::Tensor& input, const at::Tensor& weight, std::int64_t padding, int m);

}  // namespace driftgate
