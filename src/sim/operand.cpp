#include "sim/operand.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace driftgate {
namespace {

std::int64_t storage_elements(const at::Tensor& t) { return static_cast<std::int64_t>(t.storage().nbytes() / t.itemsize()); }

// The storage's elements from `offset` on, at most as many as the tensor has.
at::Tensor run_from(const at::Tensor& t, std::int64_t offset) {
  const std::int64_t count = std::max<std::int64_t>(0, std::min(t.numel(), storage_elements(t) - offset));
  return t.as_strided({count}, {1}, offset);
}

}  // namespace

void PrivateOperands::replace(std::size_t position, const std::function<at::Tensor(const at::Tensor&)>& make) {
  const bool is_written = written(call_.op.schema().arguments()[position]);
  arguments_[position] = map_tensors(arguments_[position], [&](const at::Tensor& tensor) {
    at::Tensor own = make(tensor);
    keep_wrapped(tensor, own);
    pairs_.push_back({tensor, own, is_written});
    return own;
  });
}

void PrivateOperands::write_back(Stack& results, const Write& write) {
  for (Pair& pair : pairs_) {
    if (!pair.written) continue;
    if (pair.memory.sizes() != pair.own.sizes()) pair.memory.resize_(pair.own.sizes());
    if (write) write(pair.memory, pair.own);
    else pair.memory.copy_(pair.own);
  }
  for (c10::IValue& value : results)
    value = map_tensors(value, [&](const at::Tensor& tensor) {
      for (const Pair& pair : pairs_)
        if (pair.written && pair.own.is_same(tensor)) return pair.memory;
      return tensor;
    });
}

Stack private_copies(const Call& call, const Stack& arguments) {
  std::unordered_map<c10::TensorImpl*, at::Tensor> copies;
  Stack own;
  for (std::size_t i = 0; i < call.op.schema().arguments().size(); ++i)
    own.push_back(map_tensors(arguments[i], [&](const at::Tensor& tensor) {
      at::Tensor& copy = copies[tensor.unsafeGetTensorImpl()];
      if (!copy.defined()) {
        copy = tensor.clone();
        keep_wrapped(tensor, copy);
      }
      return copy;
    }));
  return own;
}

at::Tensor misread(const at::Tensor& tensor, Misreading how) {
  if (how == Misreading::offset) return tensor.as_strided(tensor.sizes(), tensor.strides(), 0).clone();
  at::Tensor read = at::zeros({tensor.numel()}, tensor.options());
  const at::Tensor there = run_from(tensor, tensor.storage_offset());
  read.slice(0, 0, there.numel()).copy_(there);
  return read.view(tensor.sizes());
}

void miswrite(at::Tensor& memory, const at::Tensor& value, Misreading how) {
  if (how == Misreading::offset) {
    memory.as_strided(memory.sizes(), memory.strides(), 0).copy_(value);
    return;
  }
  at::Tensor there = run_from(memory, memory.storage_offset());
  there.copy_(value.reshape({-1}).slice(0, 0, there.numel()));
}

void clobber_beside(const at::Tensor& view) {
  const std::int64_t count = storage_elements(view);
  at::Tensor outside = at::ones({count}, at::kBool);
  outside.as_strided(view.sizes(), view.strides(), view.storage_offset()).fill_(false);
  const at::Tensor positions = outside.nonzero().view(-1);
  if (positions.numel() == 0) return;
  std::int64_t last = view.storage_offset();
  for (std::int64_t d = 0; d < view.dim(); ++d) last += (view.size(d) - 1) * view.stride(d);
  const at::Tensor behind = positions.masked_select(positions.gt(last));
  const std::int64_t at_position = (behind.numel() > 0 ? behind[0] : positions[-1]).item<std::int64_t>();
  auto* bytes = static_cast<unsigned char*>(view.storage().mutable_data()) + at_position * view.itemsize();
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(view.itemsize()); ++i) bytes[i] ^= view.scalar_type() == at::kBool ? 1 : 0x15;   // a NaN changes too
}

c10::IValue default_of(const c10::Argument& argument) {
  if (argument.default_value()) return *argument.default_value();
  switch (argument.type()->kind()) {
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType: return std::int64_t{0};
    case c10::TypeKind::FloatType: return 0.0;
    case c10::TypeKind::BoolType: return false;
    case c10::TypeKind::NumberType: return c10::Scalar(0);
    default: return {};
  }
}

bool differs_from_default(const std::string& name, const Call& call) {
  const auto index = call.op.schema().argumentIndexWithName(name);
  if (!index) return false;
  const auto position = static_cast<std::size_t>(*index);
  const c10::IValue& value = call.arguments[position];
  const c10::IValue fallback = default_of(call.op.schema().arguments()[position]);
  if (value.isTensor()) return value.toTensor().defined();
  if (value.isNone() || fallback.isNone()) return !value.isNone() && !value.isList();
  if (value.isScalar() && fallback.isScalar()) return value.toScalar().toDouble() != fallback.toScalar().toDouble();
  return value != fallback;
}

bool mixes_any_dtypes(const Call& call) {
  std::set<c10::ScalarType> seen;
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    for (const at::Tensor& tensor : tensors_of(call.arguments[i]))
      if (!tensor.unsafeGetTensorImpl()->is_wrapped_number()) seen.insert(tensor.scalar_type());
    const c10::Argument& argument = call.op.schema().arguments()[i];
    if (call.arguments[i].isInt() && argument.real_type()->str().find("ScalarType") != std::string::npos)
      seen.insert(static_cast<c10::ScalarType>(call.arguments[i].toInt()));
  }
  return seen.size() > 1;
}

bool writes_into_a_part(const Call& call) {
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (written(call.op.schema().arguments()[i]))
      for (const at::Tensor& tensor : tensors_of(call.arguments[i]))
        if (tensor.numel() > 0 && storage_elements(tensor) > tensor.numel()) return true;
  return false;
}

}  // namespace driftgate
