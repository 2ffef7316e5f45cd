#include "sim/aliases.hpp"

#include <ATen/EmptyTensor.h>

#include <cstring>

#include "sim/generator.hpp"
#include "sim/memory.hpp"

namespace driftgate {
namespace {

const c10::Device kDevice(c10::kPrivateUse1, 0);
constexpr c10::DispatchKeySet kKeys(c10::DispatchKey::PrivateUse1);

void give_geometry(const at::Tensor& from, const at::Tensor& to) {
  to.unsafeGetTensorImpl()->set_sizes_and_strides(from.sizes(), from.strides(), from.storage_offset());
}

}  // namespace

const c10::Storage& Aliases::share(const c10::Storage& storage) {
  for (const SharedStorage& shared : storages_)
    if (shared.device.unsafeGetStorageImpl() == storage.unsafeGetStorageImpl()) return shared.cpu;
  void* data = storage.mutable_data();
  storages_.push_back({storage,
                       c10::Storage(c10::Storage::use_byte_size_t(), storage.nbytes(), c10::DataPtr(data, c10::Device(c10::kCPU)),
                                    c10::GetAllocator(c10::kCPU), /*resizable=*/true),
                       data});
  return storages_.back().cpu;
}

at::Tensor Aliases::alias(const at::Tensor& tensor) {
  if (tensor.device().type() != c10::kPrivateUse1) {
    host_.push_back(tensor);
    return tensor;
  }
  for (const auto& [device, cpu] : tensors_)
    if (device.is_same(tensor)) return cpu;
  at::Tensor cpu = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(share(tensor.storage())), c10::DispatchKeySet(c10::DispatchKey::CPU),
                                                            tensor.dtype());
  give_geometry(tensor, cpu);
  cpu._set_conj(tensor.is_conj());
  cpu._set_neg(tensor.is_neg());
  keep_wrapped(tensor, cpu);
  tensors_.emplace_back(tensor, cpu);
  return cpu;
}

c10::IValue Aliases::to_cpu(const c10::IValue& value) {
  if (value.isDevice()) return value.toDevice().type() == c10::kPrivateUse1 ? c10::IValue(c10::Device(c10::kCPU)) : value;
  if (value.isStorage()) return value.toStorage().device_type() == c10::kPrivateUse1 ? c10::IValue(share(value.toStorage())) : value;
  if (value.isGenerator()) {
    const at::Generator given = value.toGenerator();
    if (given.device().type() != c10::kPrivateUse1) return value;
    generator_ = given;
    return {};                                          // a RandomScope puts it where the CPU looks by default
  }
  return map_tensors(value, [this](const at::Tensor& tensor) { return alias(tensor); });
}

const c10::Storage* Aliases::device_storage(const c10::Storage& cpu) const {
  for (const SharedStorage& shared : storages_)
    if (shared.cpu.unsafeGetStorageImpl() == cpu.unsafeGetStorageImpl()) return &shared.device;
  return nullptr;
}

at::Tensor Aliases::moved(const at::Tensor& result) {
  for (const auto& [device, cpu] : tensors_)
    if (cpu.is_same(result)) return device;
  for (const at::Tensor& host : host_)
    if (host.is_same(result)) return result;
  if (const c10::Storage* storage = result.has_storage() ? device_storage(result.storage()) : nullptr) {
    at::Tensor view = at::detail::make_tensor<c10::TensorImpl>(c10::Storage(*storage), kKeys, result.dtype());
    give_geometry(result, view);
    view._set_conj(result.is_conj());
    view._set_neg(result.is_neg());
    return view;
  }
  at::Tensor dense = result.resolve_conj().resolve_neg();
  if (!dense.is_non_overlapping_and_dense()) dense = dense.contiguous();
  at::Tensor device = at::detail::empty_strided_generic(dense.sizes(), dense.strides(), &SimulatedMemory::instance(), kKeys, dense.scalar_type());
  if (dense.numel() > 0) std::memcpy(device.mutable_data_ptr(), dense.const_data_ptr(), dense.nbytes());
  keep_wrapped(result, device);
  return device;
}

c10::IValue Aliases::to_device(const c10::IValue& value) {
  return map_tensors(value, [this](const at::Tensor& tensor) { return moved(tensor); });
}

void Aliases::settle() {
  for (SharedStorage& shared : storages_) {
    const std::size_t bytes = shared.cpu.nbytes();
    if (shared.cpu.data() != shared.data) {
      c10::DataPtr data = SimulatedMemory::instance().allocate(bytes);
      if (bytes > 0) std::memcpy(data.get(), shared.cpu.data(), bytes);
      shared.device.unsafeGetStorageImpl()->set_data_ptr_noswap(std::move(data));
    }
    shared.device.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
  for (auto& [device, cpu] : tensors_) {
    const c10::Storage* storage = device_storage(cpu.storage());
    if (storage && storage->unsafeGetStorageImpl() != device.storage().unsafeGetStorageImpl())
      device.unsafeGetTensorImpl()->set_storage_keep_dtype(*storage);
    const bool moved_on = device.sizes() != cpu.sizes() || device.strides() != cpu.strides() || device.storage_offset() != cpu.storage_offset();
    if (moved_on) give_geometry(cpu, device);
  }
}

}  // namespace driftgate
