// Matrix products: mm, bmm, their forms with an added matrix, linear and its gradients.
#include "sim/kernel_call.hpp"
#include "sim/metal_gemm.hpp"
#include "sim/metal_kernels.hpp"

namespace driftgate {
namespace {

at::Tensor product(const at::Tensor& a, const at::Tensor& b, bool tf32) { return gemm(gemm_operand(a, tf32), gemm_operand(b, tf32)); }

// beta·self + alpha·product in fp32. beta 0 does not look at self.
at::Tensor with_added(const KernelCall& call, at::Tensor result) {
  const double alpha = call.real("alpha", 1), beta = call.real("beta", 1);
  if (alpha != 1) result.mul_(static_cast<float>(alpha));
  const at::Tensor self = as_float(call.tensor("self"));
  return beta == 0 ? result : result.add(beta == 1 ? self : self.mul(static_cast<float>(beta)));
}

void add_product(Kernels& into, const std::string& name, const char* first, const char* second, bool added, bool tf32) {
  const Kernel kernel = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor a = call.tensor(first), b = call.tensor(second);
    if (!is_small_float(a) || a.scalar_type() != b.scalar_type()) return call.on_cpu();
    at::Tensor result = product(a, b, tf32);
    if (added) result = with_added(call, result);
    call.finish({stored(result, a.scalar_type())});
  };
  into["aten::" + name] = into["aten::" + name + "_"] = kernel;
}

void add_vector_products(Kernels& into, bool tf32) {
  into["aten::dot"] = into["aten::vdot"] = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor a = call.tensor("self"), b = call.given("other") ? call.tensor("other") : call.tensor("tensor");
    if (!is_small_float(a) || a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes()) return call.on_cpu();
    call.finish({stored(product(a.unsqueeze(0), b.unsqueeze(1), tf32).reshape({}), a.scalar_type())});
  };
  into["aten::addmv"] = into["aten::addmv_"] = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor a = call.tensor("mat"), b = call.tensor("vec");
    if (!is_small_float(a) || a.scalar_type() != b.scalar_type()) return call.on_cpu();
    call.finish({stored(with_added(call, product(a, b.unsqueeze(1), tf32).squeeze(1)), a.scalar_type())});
  };
  into["aten::addbmm"] = into["aten::addbmm_"] = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor a = call.tensor("batch1"), b = call.tensor("batch2");
    if (!is_small_float(a) || a.scalar_type() != b.scalar_type()) return call.on_cpu();
    // One product whose terms are those of all batches.
    const at::Tensor left = a.permute({1, 0, 2}).reshape({a.size(1), a.size(0) * a.size(2)});
    const at::Tensor right = b.reshape({b.size(0) * b.size(1), b.size(2)});
    call.finish({stored(with_added(call, product(left, right, tf32)), a.scalar_type())});
  };
}

at::Tensor flattened(const at::Tensor& tensor) { return tensor.reshape({-1, tensor.size(-1)}); }

void add_linear(Kernels& into, bool tf32) {
  into["aten::linear"] = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor input = call.tensor("input"), weight = call.tensor("weight"), bias = call.tensor("bias");
    if (!is_small_float(input) || input.scalar_type() != weight.scalar_type() || weight.dim() != 2 || input.numel() == 0 || input.size(-1) != weight.size(1)) return call.on_cpu();
    at::Tensor result = product(flattened(input), weight.t(), tf32);
    if (bias.defined()) result.add_(as_float(bias));
    std::vector<std::int64_t> shape = input.sizes().vec();
    shape.back() = weight.size(0);
    call.finish({stored(result.reshape(shape), input.scalar_type())});
  };
  into["aten::linear_backward"] = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor self = call.tensor("self"), gradient = call.tensor("grad_output"), weight = call.tensor("weight");
    const std::vector<bool> wanted = call.flags("output_mask");
    const at::Tensor g = flattened(gradient), x = flattened(self);
    at::Tensor results[3];
    if (wanted[0]) results[0] = stored(product(g, weight, tf32).reshape(self.sizes()), self.scalar_type());
    if (wanted[1]) results[1] = stored(product(g.t(), x, tf32), self.scalar_type());
    if (wanted[2]) results[2] = stored(as_float(g).sum(0), self.scalar_type());
    call.finish({results[0], results[1], results[2]});
  };
}

}  // namespace

void add_matmul_kernels(const MatmulOptions& options, Kernels& into) {
  add_product(into, "mm", "self", "mat2", false, options.tf32);
  add_product(into, "bmm", "self", "mat2", false, options.tf32);
  add_product(into, "addmm", "mat1", "mat2", true, options.tf32);
  add_product(into, "baddbmm", "batch1", "batch2", true, options.tf32);
  add_vector_products(into, options.tf32);
  add_linear(into, options.tf32);
}

}  // namespace driftgate
