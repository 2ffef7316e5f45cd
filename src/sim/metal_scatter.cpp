// Additions into shared elements by atomics: in any order (here the last comes first), each rounded to the dtype of the result.
#include "sim/kernel_call.hpp"
#include "sim/metal_kernels.hpp"

namespace driftgate {
namespace {

void index_add(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  KernelCall call(op, stack);
  const at::Tensor self = call.tensor("self"), index = call.tensor("index"), source = call.tensor("source");
  if (!is_small_float(self) || self.dim() == 0 || source.dim() == 0 || index.dim() != 1) return call.on_cpu();
  at::Tensor result = self.clone(at::MemoryFormat::Contiguous);
  const double alpha = call.real("alpha", 1);
  const at::Tensor terms = alpha == 1 ? source : source.mul(alpha);
  const std::int64_t dim = call.integer("dim");
  const at::Tensor places = index.to(at::kLong).contiguous();
  for (std::int64_t i = places.numel() - 1; i >= 0; --i) result.select(dim, places.data_ptr<std::int64_t>()[i]).add_(terms.select(dim, i));
  flush_subnormals(result);
  call.finish({result});
}

void scatter_add(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  KernelCall call(op, stack);
  const at::Tensor self = call.tensor("self"), index = call.tensor("index"), source = call.tensor("src");
  if (!is_small_float(self) || self.dim() == 0 || index.dim() != self.dim()) return call.on_cpu();
  at::Tensor result = self.clone(at::MemoryFormat::Contiguous);
  const std::int64_t dim = call.integer("dim");
  at::Tensor terms = source;
  for (std::int64_t d = 0; d < index.dim(); ++d) terms = terms.narrow(d, 0, index.size(d));
  // Within one slice of `dim` no two elements meet.
  for (std::int64_t i = index.size(dim) - 1; i >= 0; --i) {
    const at::Tensor places = index.narrow(dim, i, 1);
    result.scatter_(dim, places, result.gather(dim, places).add(terms.narrow(dim, i, 1)));
  }
  flush_subnormals(result);
  call.finish({result});
}

void embedding_dense_backward(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  KernelCall call(op, stack);
  const at::Tensor gradient = call.tensor("grad_output");
  if (!is_small_float(gradient)) return call.on_cpu();
  const at::Tensor rows = gradient.reshape({-1, gradient.size(-1)});
  const at::Tensor places = call.tensor("indices").to(at::kLong).reshape(-1).contiguous();
  const std::int64_t padding = call.integer("padding_idx");
  std::vector<std::int64_t> uses(static_cast<std::size_t>(call.integer("num_weights")));
  const std::int64_t* place = places.data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < places.numel(); ++i) ++uses.at(static_cast<std::size_t>(place[i]));
  at::Tensor result = at::zeros({call.integer("num_weights"), gradient.size(-1)}, gradient.options());
  for (std::int64_t i = places.numel() - 1; i >= 0; --i) {
    if (place[i] == padding) continue;
    const double share = call.flag("scale_grad_by_freq", false) ? static_cast<double>(uses[static_cast<std::size_t>(place[i])]) : 1;
    result.select(0, place[i]).add_(share == 1 ? rows.select(0, i) : rows.select(0, i).div(share));
  }
  flush_subnormals(result);
  call.finish({result});
}

}  // namespace

void add_scatter_kernels(Kernels& into) {
  into["aten::index_add"] = into["aten::index_add_"] = index_add;
  into["aten::scatter_add"] = into["aten::scatter_add_"] = scatter_add;
  into["aten::embedding_dense_backward"] = embedding_dense_backward;
}

}  // namespace driftgate
