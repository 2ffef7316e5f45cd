#pragma once
// A dense row-major tensor in host memory: what specs fill, goldens store and comparisons read. It knows no device.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tensor/dtype.hpp"

namespace driftgate {

using Shape = std::vector<std::int64_t>;

std::int64_t numel(const Shape& shape);                      // 1 for rank 0

struct Buffer {
  DType dtype = DType::f32;
  Shape shape;
  std::vector<std::byte> bytes;                              // numel(shape) * size_of(dtype), little-endian

  Buffer() = default;
  Buffer(DType dtype, Shape shape);                          // zero-filled
  std::int64_t components() const;                           // numel, doubled for complex
};

// Every real component as double (i64 above 2^53 rounds; compare such buffers by bytes).
std::vector<double> to_doubles(const Buffer& buffer);
Buffer from_doubles(DType dtype, Shape shape, const std::vector<double>& components);

}  // namespace driftgate
