#include "tensor/buffer.hpp"

#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "error.hpp"
#include "tensor/element.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();

std::string to_text(const Shape& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : ", ") + std::to_string(extent);
  return "shape [" + text + "]";
}

}  // namespace

std::int64_t numel(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (extent < 0) throw Error("bad_shape", to_text(shape), "has a negative extent");
    if (extent > 0 && count > kLargest / extent) throw Error("bad_shape", to_text(shape), "has more elements than can be counted");
    count *= extent;
  }
  return count;
}

Buffer::Buffer(DType type, Shape extents) : dtype(type), shape(std::move(extents)) {
  const auto count = static_cast<std::uint64_t>(numel(shape));
  if (count > bytes.max_size() / size_of(dtype)) throw Error("bad_shape", to_text(shape), "does not fit in memory");
  bytes.resize(static_cast<std::size_t>(count) * size_of(dtype));
}

std::int64_t Buffer::components() const { return is_complex(dtype) ? 2 * numel(shape) : numel(shape); }

std::vector<double> to_doubles(const Buffer& buffer) {
  const std::size_t step = size_of(component(buffer.dtype));
  std::vector<double> components(static_cast<std::size_t>(buffer.components()));
  if (buffer.bytes.size() != components.size() * step) throw std::invalid_argument("a buffer's bytes and shape disagree");
  with_element(buffer.dtype, [&](auto type) {
    const std::byte* element = buffer.bytes.data();
    for (double& value : components) {
      value = load<decltype(type)>(element);
      element += sizeof(typename decltype(type)::Stored);
    }
  });
  return components;
}

Buffer from_doubles(DType dtype, Shape shape, const std::vector<double>& components) {
  Buffer buffer(dtype, std::move(shape));
  if (static_cast<std::size_t>(buffer.components()) != components.size()) {
    throw std::invalid_argument("from_doubles: " + std::to_string(components.size()) + " components for " + to_text(buffer.shape));
  }
  with_element(dtype, [&](auto type) {
    std::byte* element = buffer.bytes.data();
    for (const double value : components) {
      store<decltype(type)>(value, element);
      element += sizeof(typename decltype(type)::Stored);
    }
  });
  return buffer;
}

}  // namespace driftgate
