// Sums, means and norms: a row is added by 32 lanes of 8 chains each, a whole tensor by 1,024 threads; fp32 throughout.
#include <algorithm>
#include <array>
#include <numeric>

#include "sim/kernel_call.hpp"
#include "sim/metal_kernels.hpp"
#include "sim/metal_lanes.hpp"

namespace driftgate {
namespace {

enum class Norm { none, one, two };

// The reduced dims last and flattened: rows of one result each. Empty `dims` is all of them.
at::Tensor rows_of(const at::Tensor& self, std::vector<std::int64_t> dims) {
  if (dims.empty()) return as_float(self.reshape({1, self.numel()}));
  std::vector<std::int64_t> order;
  std::int64_t reduced = 1;
  for (std::int64_t& dim : dims) {
    if (dim < 0) dim += self.dim();
    reduced *= self.size(dim);
  }
  for (std::int64_t d = 0; d < self.dim(); ++d)
    if (std::find(dims.begin(), dims.end(), d) == dims.end()) order.push_back(d);
  order.insert(order.end(), dims.begin(), dims.end());
  return as_float(self.permute(order).reshape({reduced == 0 ? 0 : self.numel() / reduced, reduced}));
}

std::vector<std::int64_t> result_shape(const at::Tensor& self, std::vector<std::int64_t> dims, bool keep) {
  if (dims.empty()) {
    dims.resize(static_cast<std::size_t>(self.dim()));
    std::iota(dims.begin(), dims.end(), 0);
  }
  std::vector<std::int64_t> shape;
  for (std::int64_t d = 0; d < self.dim(); ++d) {
    const bool reduced = std::find(dims.begin(), dims.end(), d) != dims.end() || std::find(dims.begin(), dims.end(), d - self.dim()) != dims.end();
    if (!reduced) shape.push_back(self.size(d));
    else if (keep) shape.push_back(1);
  }
  return shape;
}

void reduce(KernelCall& call, bool mean, Norm norm) {
  const at::Tensor self = call.tensor("self");
  const auto type = call.given("dtype") ? call.value("dtype").toScalarType() : is_small_float(self) ? self.scalar_type() : at::kByte;
  const bool floats = type == at::kFloat || type == at::kHalf || type == at::kBFloat16;
  if (!is_small_float(self) || !floats || self.dim() == 0 || self.numel() == 0) return call.on_cpu();
  const std::vector<std::int64_t> dims = call.integers("dim");
  const at::Tensor rows = rows_of(self, dims);
  const std::int64_t terms = rows.size(1);
  at::Tensor result = at::empty({rows.size(0)}, at::kFloat);
  float* x = rows.data_ptr<float>();
  for (std::int64_t r = 0; r < rows.size(0); ++r, x += terms) {
    for (std::int64_t i = 0; i < terms && norm != Norm::none; ++i) x[i] = norm == Norm::one ? std::fabs(x[i]) : x[i] * x[i];
    const float sum = dims.empty() ? flat_sum(x, terms) : lane_sum(x, terms);
    result.data_ptr<float>()[r] = norm == Norm::two ? std::sqrt(sum) : mean ? sum / static_cast<float>(terms) : sum;
  }
  call.finish({stored(result.reshape(result_shape(self, dims, call.flag("keepdim", false))), type)});
}

void vector_norm(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  KernelCall call(op, stack);
  const double order = call.given("ord") ? call.real("ord", 2) : call.real("p", 2);
  if (order != 1 && order != 2) return call.on_cpu();
  reduce(call, false, order == 1 ? Norm::one : Norm::two);
}

// A scan in blocks of 32 lanes by doubling distances, with the carry of the blocks before.
void cumsum(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  KernelCall call(op, stack);
  const at::Tensor self = call.tensor("self");
  if (!is_small_float(self) || self.dim() == 0 || (call.given("dtype") && call.value("dtype").toScalarType() != self.scalar_type()))
    return call.on_cpu();
  at::Tensor rows = as_float(self.movedim(call.integer("dim"), -1));
  const std::int64_t length = rows.size(-1);
  float* x = rows.data_ptr<float>();
  for (std::int64_t row = 0; length > 0 && row < rows.numel() / length; ++row, x += length) {
    float carry = 0;
    for (std::int64_t start = 0; start < length; start += 32) {
      const int lanes = static_cast<int>(std::min<std::int64_t>(32, length - start));
      for (int distance = 1; distance < lanes; distance *= 2)
        for (int lane = lanes - 1; lane >= distance; --lane) x[start + lane] += x[start + lane - distance];
      for (int lane = 0; lane < lanes; ++lane) x[start + lane] += carry;
      carry = x[start + lanes - 1];
    }
  }
  call.finish({stored(rows, self.scalar_type()).movedim(-1, call.integer("dim"))});
}

}  // namespace

void add_reduction_kernels(Kernels& into) {
  into["aten::sum"] = [](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    reduce(call, false, Norm::none);
  };
  into["aten::mean"] = [](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    reduce(call, true, Norm::none);
  };
  into["aten::linalg_vector_norm"] = into["aten::norm"] = vector_norm;
  into["aten::cumsum"] = into["aten::cumsum_"] = cumsum;
}

}  // namespace driftgate
