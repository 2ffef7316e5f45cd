#pragma once
// Between LibTorch's types and ours. Only files that include ATen anyway include this one.
#include <ATen/ATen.h>

#include "device/device.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {

c10::Device torch_device(Device device);
c10::ScalarType torch_dtype(DType dtype);
DType dtype_of(c10::ScalarType type);                                  // Error `unsupported_dtype`

at::Tensor to_tensor(const Buffer& buffer);                            // a CPU tensor that owns a copy
at::Tensor to_double_tensor(const Buffer& buffer);                     // floating and complex widened to f64, c128; integers as they are
Buffer to_buffer(const at::Tensor& tensor);                            // of a tensor of any device and layout

}  // namespace driftgate
