#include "sim/metal_gemm.hpp"

#include <algorithm>
#include <vector>

#include "sim/kernel_call.hpp"
#include "sim/metal_math.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kGroup = 8;

void gemm_rows(const float* a, const float* b, float* c, std::int64_t m, std::int64_t k, std::int64_t n) {
  std::vector<float> group(static_cast<std::size_t>(n));
  for (std::int64_t row = 0; row < m; ++row, a += k, c += n) {
    std::fill(c, c + n, 0.0f);
    for (std::int64_t start = 0; start < k; start += kGroup) {
      std::fill(group.begin(), group.end(), 0.0f);
      for (std::int64_t term = start; term < std::min(k, start + kGroup); ++term)
        for (std::int64_t column = 0; column < n; ++column)
          group[static_cast<std::size_t>(column)] = fused(a[term], b[term * n + column], group[static_cast<std::size_t>(column)]);
      for (std::int64_t column = 0; column < n; ++column) c[column] += group[static_cast<std::size_t>(column)];
    }
  }
}

}  // namespace

at::Tensor gemm(const at::Tensor& left, const at::Tensor& right) {
  const at::Tensor a = left.contiguous(), b = right.contiguous();
  const bool batched = a.dim() == 3;
  const std::int64_t batches = batched ? a.size(0) : 1, m = a.size(-2), k = a.size(-1), n = b.size(-1);
  const at::Tensor result = batched ? at::empty({batches, m, n}, at::kFloat) : at::empty({m, n}, at::kFloat);
  for (std::int64_t i = 0; i < batches; ++i)
    gemm_rows(a.data_ptr<float>() + i * m * k, b.data_ptr<float>() + i * k * n, result.data_ptr<float>() + i * m * n, m, k, n);
  return result;
}

at::Tensor gemm_operand(const at::Tensor& tensor, bool tf32) {
  at::Tensor operand = as_float(tensor);
  if (!tf32 || tensor.scalar_type() != at::kFloat) return operand;
  float* x = operand.data_ptr<float>();
  for (std::int64_t i = 0; i < operand.numel(); ++i) x[i] = rounded_to(x[i], 11);
  return operand;
}

}  // namespace driftgate
