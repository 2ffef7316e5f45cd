// Unary and binary functions: fp32 inside, one rounding at the end, also in halves.
#include <ATen/ScalarOps.h>

#include "sim/kernel_call.hpp"
#include "sim/metal_kernels.hpp"

namespace driftgate {
namespace {

template <class Function>
at::Tensor mapped(const at::Tensor& self, Function function) {
  at::Tensor result = as_float(self);
  float* x = result.data_ptr<float>();
  for (std::int64_t i = 0; i < result.numel(); ++i) x[i] = function(x[i]);
  return stored(result, self.scalar_type());
}

template <class Function>
void add_unary(Kernels& into, const std::string& name, Function function) {
  const Kernel kernel = [function](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor self = call.tensor("self");
    if (!is_small_float(self)) return call.on_cpu();
    call.finish({mapped(self, function)});
  };
  into["aten::" + name] = kernel;
  into["aten::" + name + "_"] = kernel;
}

// The operand `name`, a tensor or a number; undefined for what the families do not compute.
at::Tensor operand(const KernelCall& call, const char* name) {
  const c10::IValue& value = call.value(name);
  if (value.isTensor()) return value.toTensor();
  if (!value.isScalar() || value.toScalar().isComplex()) return {};
  at::Tensor number = c10::scalar_to_tensor(value.toScalar());
  number.unsafeGetTensorImpl()->set_wrapped_number(true);
  return number;
}

template <class Function>
void add_binary(Kernels& into, const std::string& name, const char* first, const char* second, Function function) {
  const Kernel kernel = [=](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor a = operand(call, first), b = operand(call, second);
    if (!a.defined() || !b.defined() || (!is_small_float(a) && !is_small_float(b))) return call.on_cpu();
    const at::ScalarType type = at::result_type(a, b);
    if (type != at::kFloat && type != at::kHalf && type != at::kBFloat16) return call.on_cpu();
    const std::vector<at::Tensor> both = at::broadcast_tensors({a, b});
    at::Tensor result = as_float(both[0].to(type));
    const at::Tensor other = as_float(both[1].to(type));
    float* x = result.data_ptr<float>();
    const float* y = other.data_ptr<float>();
    for (std::int64_t i = 0; i < result.numel(); ++i) x[i] = function(x[i], y[i]);
    call.finish({stored(result, type)});
  };
  into["aten::" + name] = kernel;
  into["aten::" + name + "_"] = kernel;
}

// PyTorch's Metal kernel takes products and roots for these exponents, where they are numbers.
bool special_exponent(float y) { return y == 2 || y == 3 || y == 0.5f || y == -0.5f || y == -1 || y == -2; }

float raised(const MetalMath& m, float x, float y) {
  if (!special_exponent(y)) return m.pow(x, y);
  if (y == 0.5f) return std::sqrt(x);
  if (y == -0.5f) return 1 / std::sqrt(x);
  if (y == -1) return 1 / x;
  return y == 3 ? x * x * x : y == 2 ? x * x : 1 / (x * x);
}

void add_pow(const MetalMath& m, Kernels& into) {
  Kernels by_number;
  add_binary(by_number, "pow", "self", "exponent", [m](float x, float y) { return raised(m, x, y); });
  add_binary(into, "pow", "self", "exponent", [m](float x, float y) { return m.pow(x, y); });
  const Kernel kernel = [number = by_number.at("aten::pow"), tensor = into.at("aten::pow")](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    const auto& [name, overload] = op.operator_name();
    const bool is_number = overload.starts_with("Tensor_Scalar") || (name == "aten::pow_" && overload == "Scalar");
    (is_number ? number : tensor)(op, stack);
  };
  into["aten::pow"] = into["aten::pow_"] = kernel;
}

float remainder(float x, float y) {
  const float result = x - y * std::floor(x / y);
  return std::isinf(y) && std::isfinite(x) ? (x * y < 0 ? y : x) : result;
}

void add_elu(const MetalMath& m, Kernels& into) {
  const Kernel kernel = [m](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor self = call.tensor("self");
    if (!is_small_float(self)) return call.on_cpu();
    const float scale = static_cast<float>(call.real("scale", 1)), input_scale = static_cast<float>(call.real("input_scale", 1));
    const float left = static_cast<float>(call.real("alpha", 1)) * scale;
    call.finish({mapped(self, [&](float x) { return x > 0 ? x * scale : std::isnan(x) ? x : (m.exp(x * input_scale) - 1) * left; })});
  };
  into["aten::elu"] = into["aten::elu_"] = kernel;
}

void add_softplus(const MetalMath& m, Kernels& into) {
  into["aten::softplus"] = [m](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor self = call.tensor("self");
    if (!is_small_float(self)) return call.on_cpu();
    const float beta = static_cast<float>(call.real("beta", 1)), threshold = static_cast<float>(call.real("threshold", 20));
    call.finish({mapped(self, [&](float x) { return x * beta > threshold ? x : m.graph_log(1 + m.graph_exp(x * beta)) / beta; })});
  };
}

void add_gelu(const MetalMath& m, Kernels& into) {
  const Kernel kernel = [m](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor self = call.tensor("self");
    if (!is_small_float(self)) return call.on_cpu();
    const bool with_tanh = call.given("approximate") && call.value("approximate").toStringRef() == "tanh";
    call.finish({mapped(self, [&](float x) {
      if (!with_tanh) return x * 0.5f * (1 + m.erf(x * 0.70710678f));
      return x * 0.5f * (1 + m.tanh(0.79788456f * (x + 0.044715f * x * x * x)));
    })});
  };
  into["aten::gelu"] = into["aten::gelu_"] = kernel;
}

void add_silu_backward(const MetalMath& m, Kernels& into) {
  into["aten::silu_backward"] = [m](const c10::OperatorHandle& op, torch::jit::Stack& stack) {
    KernelCall call(op, stack);
    const at::Tensor gradient = call.tensor("grad_output"), self = call.tensor("self");
    if (!is_small_float(gradient) || !is_small_float(self) || gradient.sizes() != self.sizes()) return call.on_cpu();
    at::Tensor result = as_float(gradient);
    const at::Tensor input = as_float(self);
    float* g = result.data_ptr<float>();
    const float* x = input.data_ptr<float>();
    for (std::int64_t i = 0; i < result.numel(); ++i) {
      const float s = m.sigmoid(x[i]);
      g[i] *= s * (1 + x[i] - x[i] * s);
    }
    call.finish({stored(result, self.scalar_type())});
  };
}

}  // namespace

void add_pointwise_kernels(const MetalMath& m, Kernels& into) {
  add_unary(into, "exp", [m](float x) { return m.exp(x); });
  add_unary(into, "log", [m](float x) { return m.log(x); });
  add_unary(into, "log2", [m](float x) { return m.log2(x); });
  add_unary(into, "log10", [m](float x) { return m.log10(x); });
  add_unary(into, "sin", [m](float x) { return m.sin(x); });
  add_unary(into, "cos", [m](float x) { return m.cos(x); });
  add_unary(into, "tan", [m](float x) { return m.tan(x); });
  add_unary(into, "asin", [m](float x) { return m.asin(x); });
  add_unary(into, "acos", [m](float x) { return m.acos(x); });
  add_unary(into, "atan", [m](float x) { return m.atan(x); });
  add_unary(into, "sinh", [m](float x) { return m.sinh(x); });
  add_unary(into, "cosh", [m](float x) { return m.cosh(x); });
  add_unary(into, "tanh", [m](float x) { return m.tanh(x); });
  add_unary(into, "erf", [m](float x) { return m.erf(x); });
  add_unary(into, "erfc", [m](float x) { return m.erfc(x); });
  add_unary(into, "exp2", [m](float x) { return m.exp2(x); });
  add_unary(into, "expm1", [m](float x) { return m.expm1(x); });
  add_unary(into, "log1p", [m](float x) { return m.log1p(x); });
  add_unary(into, "sigmoid", [m](float x) { return m.sigmoid(x); });
  add_unary(into, "silu", [m](float x) { return x / (1 + m.exp(-x)); });
  add_unary(into, "mish", [m](float x) { return x * m.tanh(m.log1p(m.exp(x))); });
  add_unary(into, "rsqrt", [](float x) { return 1 / std::sqrt(x); });
  add_unary(into, "asinh", [m](float x) { return m.graph_asinh(x); });
  add_unary(into, "acosh", [m](float x) { return m.graph_acosh(x); });
  add_unary(into, "atanh", [m](float x) { return m.graph_atanh(x); });
  add_binary(into, "atan2", "self", "other", [m](float y, float x) { return m.atan2(y, x); });
  add_pow(m, into);
  add_binary(into, "remainder", "self", "other", remainder);
  add_binary(into, "xlogy", "self", "other",
             [m](float x, float y) { return std::isnan(y) ? y : x == 0 ? 0.0f : x * m.log(y); });
  add_elu(m, into);
  add_softplus(m, into);
  add_gelu(m, into);
  add_silu_backward(m, into);
}

}  // namespace driftgate
