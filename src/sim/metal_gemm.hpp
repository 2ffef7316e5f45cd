#pragma once
// The fp32 matrix product of the Metal-like profiles.
#include <ATen/ATen.h>

namespace driftgate {

// left [M, K] times right [K, N], or batches of both, fp32. Each result is a sum of groups of 8 fused terms, K ascending.
at::Tensor gemm(const at::Tensor& left, const at::Tensor& right);
// An operand as the matrix unit reads it: contiguous fp32, flushed, and cut to 11 significant bits when `tf32` and it is fp32.
at::Tensor gemm_operand(const at::Tensor& tensor, bool tf32);

}  // namespace driftgate
