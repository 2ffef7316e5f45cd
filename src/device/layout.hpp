#pragma once
// Where a tensor's elements lie: the layouts that kernels get wrong.
//
// A laid-out tensor is a view of a parent whose other elements, the gaps, hold NaN (1 in integers), so that a read outside the
// view shows and a write outside it can be found. The parent is filled on the CPU and copied whole: no kernel of the device but
// the plain copy is needed to make one.
#include <ATen/ATen.h>

namespace driftgate {

enum class Layout : std::uint8_t {
  contiguous,
  permuted,             // the dims in reverse order in memory
  step2,                // every other element of the last dim
  offset,               // three elements into its storage
  slice,                // of a slice: gaps before and after, along the first and the last dim
  channels_last,        // 4 dims
  expanded,             // stride 0 along dim 0: every slice is the first one
};

struct LaidOut {
  at::Tensor view, parent;
};

// `values`: a contiguous CPU tensor of rank >= 1 where the layout is not contiguous or offset.
LaidOut lay_out(const at::Tensor& values, Layout layout, c10::Device device);
bool gaps_kept(const LaidOut& tensor);                   // whether the gaps, if any, hold what lay_out wrote

}  // namespace driftgate
