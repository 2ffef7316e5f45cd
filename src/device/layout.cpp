#include "device/layout.hpp"

#include <c10/core/GradMode.h>

#include <cstring>
#include <limits>

namespace driftgate {
namespace {

constexpr std::int64_t kOffset = 3, kBefore = 1, kAfter = 2;   // elements, or slices, of gap

struct Geometry {
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0, extent = 0;                          // extent: elements of the parent
};

std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes, std::int64_t last = 1) {
  std::vector<std::int64_t> strides(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0; last *= sizes[d]) strides[d] = last;
  return strides;
}

Geometry geometry_of(std::vector<std::int64_t> sizes, Layout layout) {
  const std::size_t rank = sizes.size();
  std::int64_t count = 1;
  for (const std::int64_t n : sizes) count *= n;
  switch (layout) {
    case Layout::permuted: {
      std::vector<std::int64_t> strides = dense_strides({sizes.rbegin(), sizes.rend()});
      return {{strides.rbegin(), strides.rend()}, 0, count};
    }
    case Layout::step2: return {dense_strides(sizes, 2), 0, 2 * count};
    case Layout::offset: return {dense_strides(sizes), kOffset, count + kOffset + kAfter};
    case Layout::slice: {
      std::vector<std::int64_t> padded = sizes;
      padded.front() += kBefore + kAfter;
      padded.back() += rank > 1 ? kBefore + kAfter : 0;
      Geometry made{dense_strides(padded), 0, 1};
      made.offset = kBefore * made.strides.front() + (rank > 1 ? kBefore : 0);
      for (const std::int64_t n : padded) made.extent *= n;
      return made;
    }
    case Layout::channels_last: return {{sizes[1] * sizes[2] * sizes[3], 1, sizes[1] * sizes[3], sizes[1]}, 0, count};
    case Layout::expanded: {
      std::vector<std::int64_t> strides = dense_strides(sizes);
      strides.front() = 0;
      return {strides, 0, count / std::max<std::int64_t>(1, sizes.front())};
    }
    case Layout::contiguous: break;
  }
  return {dense_strides(sizes), 0, count};
}

at::Tensor gaps(std::int64_t extent, c10::ScalarType dtype) {
  const bool holds_nan = c10::isFloatingType(dtype) || c10::isComplexType(dtype);
  return at::full({extent}, holds_nan ? std::numeric_limits<double>::quiet_NaN() : 1.0, at::TensorOptions(dtype));
}

}  // namespace

LaidOut lay_out(const at::Tensor& values, Layout layout, c10::Device device) {
  const c10::AutoGradMode off(false);
  if (layout == Layout::contiguous || values.numel() == 0) return {values.to(device, values.scalar_type(), /*non_blocking=*/false, /*copy=*/true), {}};
  const Geometry geometry = geometry_of(values.sizes().vec(), layout);
  at::Tensor parent = gaps(geometry.extent, values.scalar_type());
  if (layout == Layout::expanded) parent.copy_(values[0].flatten());
  else parent.as_strided(values.sizes(), geometry.strides, geometry.offset).copy_(values);
  parent = parent.to(device);
  const at::Tensor view = parent.as_strided(values.sizes(), geometry.strides, geometry.offset);
  return {view, layout == Layout::expanded ? at::Tensor() : parent};
}

bool gaps_kept(const LaidOut& tensor) {
  if (!tensor.parent.defined()) return true;
  at::Tensor now = tensor.parent.detach().to(c10::kCPU, tensor.parent.scalar_type(), false, /*copy=*/true);
  const at::Tensor fresh = gaps(now.numel(), now.scalar_type());
  now.as_strided(tensor.view.sizes(), tensor.view.strides(), tensor.view.storage_offset()).copy_(fresh[0].expand(tensor.view.sizes()));
  return std::memcmp(now.const_data_ptr(), fresh.const_data_ptr(), now.nbytes()) == 0;
}

}  // namespace driftgate
