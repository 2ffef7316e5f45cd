#include "run/observed.hpp"

#include <ATen/record_function.h>

#include "device/torch_types.hpp"
#include "device/autocast.hpp"

namespace driftgate {
namespace {

// A callback is a plain function: what it writes to has to be reachable from anywhere.
thread_local DtypeCounts* target = nullptr;

void note(const c10::IValue& value) {
  if (value.isTensor() && value.toTensor().defined() && value.toTensor().is_floating_point()) {
    ++(*target)[std::string(name(dtype_of(value.toTensor().scalar_type())))];
  } else if (value.isTensorList()) {
    for (const at::Tensor& tensor : value.toTensorVector()) note(tensor);
  }
}

void note_outputs(const at::RecordFunction& function, at::ObserverContext*) {
  if (!target) return;
  for (const c10::IValue& value : function.outputs()) note(value);
}

}  // namespace

DtypeCapture::DtypeCapture(DtypeCounts& counts) {
  target = &counts;
  handle_ = at::addThreadLocalCallback(
      at::RecordFunctionCallback([](const at::RecordFunction&) -> std::unique_ptr<at::ObserverContext> { return nullptr; }, note_outputs)
          .needsOutputs(true)
          .scopes({at::RecordScope::FUNCTION}));
}

DtypeCapture::~DtypeCapture() {
  at::removeCallback(handle_);
  target = nullptr;
}

int significant_bits(Device device, Policy policy) {
  constexpr int kMost = 24, kSize = 32;
  try {
    at::Tensor values = at::zeros({kSize, kSize});
    for (int k = 0; k < kMost; ++k) values.data_ptr<float>()[k * kSize + k] = 1.0F + std::ldexp(1.0F, -k);
    const at::Tensor x = values.to(torch_dtype(dtype_of(policy))).to(torch_device(device));
    const at::Tensor eye = at::eye(kSize).to(torch_dtype(dtype_of(policy))).to(torch_device(device));
    const Autocast autocast(torch_device(device).type(), policy);
    const at::Tensor product = at::mm(x, eye).to(c10::kCPU).to(c10::kFloat);
    int bits = 0;
    while (bits < kMost && product.data_ptr<float>()[bits * kSize + bits] == values.data_ptr<float>()[bits * kSize + bits]) ++bits;
    return bits;
  } catch (const c10::Error&) {
    return 0;
  }
}

}  // namespace driftgate
