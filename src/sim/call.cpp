#include "sim/call.hpp"

namespace driftgate {

c10::IValue map_tensors(const c10::IValue& value, const std::function<at::Tensor(const at::Tensor&)>& change) {
  if (value.isTensor()) return value.toTensor().defined() ? c10::IValue(change(value.toTensor())) : value;
  if (value.isTensorList()) {
    c10::List<at::Tensor> list;
    for (const at::Tensor& tensor : value.toTensorVector()) list.push_back(tensor.defined() ? change(tensor) : tensor);
    return list;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> list;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
      list.push_back(tensor && tensor->defined() ? std::optional(change(*tensor)) : tensor);
    return list;
  }
  return value;
}

std::vector<at::Tensor> tensors_of(const c10::IValue& value) {
  std::vector<at::Tensor> found;
  if (value.isTensor() || value.isTensorList() || value.isOptionalTensorList())
    map_tensors(value, [&](const at::Tensor& tensor) {
      found.push_back(tensor);
      return tensor;
    });
  return found;
}

void keep_wrapped(const at::Tensor& from, const at::Tensor& to) {
  if (from.unsafeGetTensorImpl()->is_wrapped_number()) to.unsafeGetTensorImpl()->set_wrapped_number(true);
}

bool written(const c10::Argument& argument) { return argument.alias_info() && argument.alias_info()->isWrite(); }

bool output_only(const c10::OperatorHandle& op, std::size_t position) {
  const c10::Argument& argument = op.schema().arguments()[position];
  return written(argument) && argument.is_out();
}

}  // namespace driftgate
