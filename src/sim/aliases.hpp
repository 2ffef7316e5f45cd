#pragma once
// The tensors of one call, seen through CPU tensors that share the device's memory, and its results turned back into device tensors.
#include <unordered_map>

#include "sim/call.hpp"

namespace driftgate {

class Aliases {
 public:
  // A device tensor becomes a CPU tensor of the same memory, sizes, strides and offset; equal tensors and storages stay equal.
  // The device becomes the CPU, a generator its CPU generator.
  c10::IValue to_cpu(const c10::IValue& value);
  // An alias becomes the tensor that it stands for, a view of one a view of its storage; what is new moves to the device.
  c10::IValue to_device(const c10::IValue& value);
  // Sizes and storages that the call changed on the CPU side (resize_, set_, an `out`), changed on the device's side too.
  void settle();
  std::optional<at::Generator> generator() const { return generator_; }    // the call's own, if it was given one

 private:
  struct SharedStorage {
    c10::Storage device, cpu;
    const void* data;                                   // of both, before the call
  };
  at::Tensor alias(const at::Tensor& tensor);
  at::Tensor moved(const at::Tensor& result);
  const c10::Storage& share(const c10::Storage& storage);
  const c10::Storage* device_storage(const c10::Storage& cpu) const;

  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;               // device, cpu
  std::vector<at::Tensor> host_;                        // CPU tensors that were given as such
  std::vector<SharedStorage> storages_;
  std::optional<at::Generator> generator_;
};

}  // namespace driftgate
