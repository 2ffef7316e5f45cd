#include "device/torch_types.hpp"

#include <cstring>

#include "error.hpp"

namespace driftgate {

c10::ScalarType torch_dtype(DType dtype) {
  switch (dtype) {
    case DType::f16: return c10::kHalf;
    case DType::bf16: return c10::kBFloat16;
    case DType::f32: return c10::kFloat;
    case DType::f64: return c10::kDouble;
    case DType::i8: return c10::kChar;
    case DType::u8: return c10::kByte;
    case DType::i16: return c10::kShort;
    case DType::i32: return c10::kInt;
    case DType::i64: return c10::kLong;
    case DType::boolean: return c10::kBool;
    case DType::c64: return c10::kComplexFloat;
    case DType::c128: return c10::kComplexDouble;
  }
  return c10::kFloat;
}

DType dtype_of(c10::ScalarType type) {
  switch (type) {
    case c10::kHalf: return DType::f16;
    case c10::kBFloat16: return DType::bf16;
    case c10::kFloat: return DType::f32;
    case c10::kDouble: return DType::f64;
    case c10::kChar: return DType::i8;
    case c10::kByte: return DType::u8;
    case c10::kShort: return DType::i16;
    case c10::kInt: return DType::i32;
    case c10::kLong: return DType::i64;
    case c10::kBool: return DType::boolean;
    case c10::kComplexFloat: return DType::c64;
    case c10::kComplexDouble: return DType::c128;
    default: throw Error("unsupported_dtype", "tensor", std::string("dtype ") + c10::toString(type) + " is not one that cases use");
  }
}

at::Tensor to_tensor(const Buffer& buffer) {
  at::Tensor tensor = at::empty(buffer.shape, torch_dtype(buffer.dtype));
  std::memcpy(tensor.data_ptr(), buffer.bytes.data(), buffer.bytes.size());
  return tensor;
}

at::Tensor to_double_tensor(const Buffer& buffer) {
  if (is_complex(buffer.dtype)) return to_tensor(buffer).to(c10::kComplexDouble);
  if (!is_float(buffer.dtype)) return to_tensor(buffer);
  const std::vector<double> values = to_doubles(buffer);
  at::Tensor tensor = at::empty(buffer.shape, c10::kDouble);
  std::memcpy(tensor.data_ptr(), values.data(), values.size() * sizeof(double));
  return tensor;
}

Buffer to_buffer(const at::Tensor& tensor) {
  const at::Tensor dense = tensor.detach().resolve_conj().resolve_neg().to(c10::kCPU).contiguous();
  Buffer buffer(dtype_of(dense.scalar_type()), Shape(dense.sizes().begin(), dense.sizes().end()));
  std::memcpy(buffer.bytes.data(), dense.const_data_ptr(), buffer.bytes.size());
  return buffer;
}

}  // namespace driftgate
