#include "sim/kernel_call.hpp"

namespace driftgate {
namespace {

template <class Word>
bool flush(Word* words, std::int64_t count, Word exponent, Word sign) {
  bool any = false;
  for (std::int64_t i = 0; i < count; ++i) {
    if ((words[i] & exponent) != 0 || (words[i] & ~sign) == 0) continue;
    words[i] &= sign;
    any = true;
  }
  return any;
}

}  // namespace

KernelCall::KernelCall(const c10::OperatorHandle& op, torch::jit::Stack& stack)
    : op_(op), stack_(stack), first_(stack.size() - op.schema().arguments().size()) {}

int KernelCall::position(std::string_view name) const {
  const auto& arguments = op_.schema().arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name() == name) return static_cast<int>(i);
  return -1;
}

const c10::IValue& KernelCall::value(std::string_view name) const {
  static const c10::IValue none;
  const int at = position(name);
  return at < 0 ? none : stack_[first_ + static_cast<std::size_t>(at)];
}

bool KernelCall::given(std::string_view name) const { return !value(name).isNone(); }

at::Tensor KernelCall::tensor(std::string_view name) const {
  const c10::IValue& argument = value(name);
  return argument.isTensor() ? argument.toTensor() : at::Tensor();
}

double KernelCall::real(std::string_view name, double fallback) const {
  const c10::IValue& argument = value(name);
  return argument.isNone() ? fallback : argument.toScalar().toDouble();
}

bool KernelCall::flag(std::string_view name, bool fallback) const {
  const c10::IValue& argument = value(name);
  return argument.isNone() ? fallback : argument.toBool();
}

std::int64_t KernelCall::integer(std::string_view name) const { return value(name).toInt(); }

std::vector<std::int64_t> KernelCall::integers(std::string_view name) const {
  const c10::IValue& argument = value(name);
  if (argument.isNone()) return {};
  return argument.isInt() ? std::vector<std::int64_t>{argument.toInt()} : argument.toIntVector();
}

std::vector<bool> KernelCall::flags(std::string_view name) const {
  std::vector<bool> flags;
  for (const bool flag : value(name).toBoolList()) flags.push_back(flag);
  return flags;
}

void KernelCall::finish(const std::vector<at::Tensor>& results) {
  const auto& arguments = op_.schema().arguments();
  std::vector<at::Tensor> written;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const c10::AliasInfo* alias = arguments[i].alias_info();
    if (alias != nullptr && alias->isWrite() && stack_[first_ + i].isTensor()) written.push_back(stack_[first_ + i].toTensor());
  }
  torch::jit::drop(stack_, arguments.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (i >= written.size()) {
      stack_.emplace_back(results[i]);
      continue;
    }
    if (written[i].sizes() != results[i].sizes()) written[i].resize_(results[i].sizes());
    written[i].copy_(results[i]);
    stack_.emplace_back(written[i]);
  }
}

void KernelCall::on_cpu() { op_.callBoxed(&stack_); }

bool is_small_float(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kHalf || tensor.scalar_type() == at::kBFloat16);
}

at::Tensor as_float(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  at::Tensor copy = tensor.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true, at::MemoryFormat::Contiguous);
  if (tensor.scalar_type() != at::kHalf) flush_subnormals(copy);
  return copy;
}

at::Tensor stored(const at::Tensor& fp32, at::ScalarType type) {
  at::Tensor result = fp32;
  flush_subnormals(result);
  result = result.to(type);
  flush_subnormals(result);
  return result;
}

at::Tensor unexpanded(const at::Tensor& tensor) {
  at::Tensor part = tensor;
  for (std::int64_t d = 0; d < tensor.dim(); ++d)
    if (tensor.stride(d) == 0 && tensor.size(d) > 1) part = part.narrow(d, 0, 1);
  return part;
}

void flush_subnormals(at::Tensor& tensor) {
  if (tensor.scalar_type() != at::kFloat && tensor.scalar_type() != at::kBFloat16) return;
  if (!tensor.is_non_overlapping_and_dense()) {
    at::Tensor part = unexpanded(tensor), dense = part.contiguous();
    flush_subnormals(dense);
    part.copy_(dense);
    return;
  }
  if (tensor.scalar_type() == at::kFloat)
    flush<std::uint32_t>(static_cast<std::uint32_t*>(tensor.data_ptr()), tensor.numel(), 0x7f800000u, 0x80000000u);
  else
    flush<std::uint16_t>(static_cast<std::uint16_t*>(tensor.data_ptr()), tensor.numel(), 0x7f80u, 0x8000u);
}

}  // namespace driftgate
