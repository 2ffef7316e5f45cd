#include "run/local_error.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "case/fill.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kDraws = 2;

template <class Function>
c10::IValue mapped(const c10::IValue& value, Function function) {
  if (value.isTensor()) return value.toTensor().defined() ? function(value.toTensor()) : value.toTensor();
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(tensor.defined() ? function(tensor) : tensor);
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
      list.push_back(tensor && tensor->defined() ? std::optional(function(*tensor)) : tensor);
    return list;
  }
  if (value.isDevice()) return c10::Device(c10::kCPU);
  return value;
}

template <class Function>
torch::jit::Stack mapped(const torch::jit::Stack& values, Function function) {
  torch::jit::Stack stack;
  for (const c10::IValue& value : values) stack.push_back(mapped(value, function));
  return stack;
}

void append_tensors(const c10::IValue& value, std::vector<at::Tensor>& into) {
  if (value.isTensor()) into.push_back(value.toTensor());
  if (value.isTensorList())
    for (const at::Tensor& tensor : value.toTensorVector()) into.push_back(tensor);
}

// Batch norm writes its running statistics, though its schema does not say so.
bool written(const c10::OperatorHandle& op, std::size_t argument) {
  const c10::Argument& formal = op.schema().arguments()[argument];
  return (formal.alias_info() && formal.alias_info()->isWrite()) || formal.name().starts_with("running_");
}

// The tensors of the results, then the arguments that the call wrote.
std::vector<at::Tensor> results_of(const c10::OperatorHandle& op, const torch::jit::Stack& outputs, const torch::jit::Stack& after) {
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& value : outputs) append_tensors(value, tensors);
  for (std::size_t i = 0; i < after.size(); ++i)
    if (written(op, i)) append_tensors(after[i], tensors);
  return tensors;
}

bool floating(const at::Tensor& tensor) { return tensor.defined() && tensor.is_floating_point(); }

at::Tensor widened(const at::Tensor& tensor) { return tensor.is_floating_point() ? tensor.to(c10::kDouble) : tensor.clone(); }

// A backend that brings its own convolution is called by names that the CPU has no kernel for; these are the same operators.
c10::OperatorHandle on_cpu(const c10::OperatorHandle& op, torch::jit::Stack& stack) {
  const auto find = [](const char* name) { return c10::Dispatcher::singleton().findSchemaOrThrow(name, ""); };
  const std::string& name = op.schema().name();
  if (name == "aten::convolution_overrideable") return find("aten::convolution");
  if (name != "aten::convolution_backward_overrideable") return op;
  stack.insert(stack.begin() + 3, c10::IValue(std::vector<std::int64_t>{stack[0].toTensor().size(1)}));
  return find("aten::convolution_backward");
}

// Only devices with a whole linear have this operator; elsewhere its parts are called.
std::vector<at::Tensor> linear_backward(const torch::jit::Stack& stack) {
  const at::Tensor &self = stack[0].toTensor(), &gradient = stack[1].toTensor(), &weight = stack[2].toTensor();
  const c10::List<bool> mask = stack[3].toBoolList();
  const at::Tensor rows = gradient.reshape({-1, gradient.size(-1)});
  return {mask[0] ? gradient.matmul(weight) : at::Tensor(), mask[1] ? rows.t().mm(self.reshape({-1, self.size(-1)})) : at::Tensor(),
          mask[2] ? rows.sum(0) : at::Tensor()};
}

// In fp64, or nullopt. Integer arguments, dtypes and flags are those of the call.
std::optional<std::vector<at::Tensor>> repeat(const c10::OperatorHandle& op, const torch::jit::Stack& inputs) {
  const c10::NoGradGuard no_grad;
  const c10::impl::ExcludeDispatchKeyGuard no_autocast(c10::autocast_dispatch_keyset);
  torch::jit::Stack stack = inputs;
  try {
    if (op.schema().name() == "aten::linear_backward") return linear_backward(stack);
    on_cpu(op, stack).callBoxed(stack);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return results_of(op, stack, inputs);
}

double roundoff(c10::ScalarType type) {
  switch (type) {
    case c10::kHalf: return 0x1p-11;
    case c10::kBFloat16: return 0x1p-8;
    case c10::kFloat: return 0x1p-24;
    default: return 0;
  }
}

double coarsest(const torch::jit::Stack& inputs, const std::vector<at::Tensor>& results) {
  double u = 0;
  std::vector<at::Tensor> tensors = results;
  for (const c10::IValue& value : inputs) append_tensors(value, tensors);
  for (const at::Tensor& tensor : tensors)
    if (tensor.defined()) u = std::max(u, roundoff(tensor.scalar_type()));
  return u;
}

// What one rounding of the inputs does to each result, squared and summed over the draws.
std::vector<double> squared_sensitivities(const c10::OperatorHandle& op, const torch::jit::Stack& inputs, double u, const std::vector<at::Tensor>& plain) {
  std::vector<double> sums(plain.size(), 0);
  for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
    int place = 0;
    const auto moved = repeat(op, mapped(inputs, [&](const at::Tensor& tensor) {
      if (!tensor.is_floating_point()) return tensor.clone();
      const std::vector<double> signs = random_signs("local_error/" + std::to_string(place++), draw, static_cast<std::size_t>(tensor.numel()));
      return tensor.to(c10::kDouble).mul(at::from_blob(const_cast<double*>(signs.data()), tensor.sizes(), c10::kDouble).mul(u).add(1));
    }));
    for (std::size_t i = 0; moved && i < plain.size(); ++i) {
      const at::Tensor& after = moved->at(i);
      if (!plain[i].defined() || !plain[i].is_floating_point() || !after.defined() || after.sizes() != plain[i].sizes()) continue;
      sums[i] += at::nan_to_num(after.to(c10::kDouble).sub(plain[i].to(c10::kDouble)).square(), 0, 0, 0).mean().item<double>() / kDraws;
    }
  }
  return sums;
}

double required(const at::Tensor& got, const at::Tensor& want, double u, double squared_sensitivity) {
  if (got.defined() != want.defined() || (want.defined() && got.sizes() != want.sizes())) return kInfinity;
  if (!want.defined() || want.numel() == 0) return 0;
  if (!want.is_floating_point()) return at::equal(got.to(want.scalar_type()), want) ? 0 : kInfinity;
  const at::Tensor reference = want.to(c10::kDouble), candidate = got.to(c10::kDouble);
  if (!at::equal(reference.isnan(), candidate.isnan())) return kInfinity;
  const double error = at::nan_to_num(candidate.sub(reference), 0).square().mean().item<double>();
  if (error == 0) return 0;
  const double unit = squared_sensitivity + u * u * at::nan_to_num(reference, 0, 0, 0).square().mean().item<double>();
  return unit > 0 ? std::sqrt(error / unit) : kInfinity;
}

}  // namespace

torch::jit::Stack copied_to_cpu(const torch::jit::Stack& values) {
  const c10::NoGradGuard no_grad;
  return mapped(values, [](const at::Tensor& tensor) { return tensor.detach().to(c10::kCPU, tensor.scalar_type(), /*non_blocking=*/false, /*copy=*/true); });
}

LocalError local_error(const c10::OperatorHandle& op, const torch::jit::Stack& inputs, const torch::jit::Stack& outputs, const torch::jit::Stack& after) {
  LocalError found;
  const auto want = repeat(op, mapped(inputs, widened));
  const std::vector<at::Tensor> got = results_of(op, copied_to_cpu(outputs), copied_to_cpu(after));
  if (!want || want->empty() || want->size() != got.size()) return found;
  found.checked = true;
  const double u = coarsest(inputs, got);
  const std::vector<double> sensitivities = squared_sensitivities(op, inputs, u, *want);
  const bool any_floating = std::any_of(want->begin(), want->end(), floating);
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!any_floating || floating(want->at(i))) found.required = std::max(found.required, required(got[i], want->at(i), u, sensitivities[i]));
  return found;
}

bool substitute(const c10::OperatorHandle& op, const torch::jit::Stack& inputs, const torch::jit::Stack& outputs, const torch::jit::Stack& after) {
  const auto want = repeat(op, mapped(inputs, widened));
  const std::vector<at::Tensor> targets = results_of(op, outputs, after);
  if (!want || want->size() != targets.size()) return false;
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < targets.size(); ++i)
    if (targets[i].defined() && want->at(i).defined() && targets[i].sizes() == want->at(i).sizes())
      targets[i].variable_data().copy_(want->at(i).to(targets[i].scalar_type()));          // autograd must not see a change
  return true;
}

}  // namespace driftgate
