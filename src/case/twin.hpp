#pragma once
// Twins: the same values through another road on the same device, compared with the device's own canonical result. No golden
// is needed, and a legitimate difference of paths stays within the limit of the case's row.
//
//   permuted_X, step2_X, offset_X, slice_X, channels_last_X     operand X in that layout, in memory whose gaps hold NaN
//   expanded_X                the first slice of X, stride 0 along dim 0, against the same values stored
//   inplace, inplace_strided  the op's in-place overload, on a plain tensor or on a view of one whose gaps must stay as they were
//   out                       its out= overload, into such views
//   inputs_kept               no operand is modified
//   repeat                    eight runs give the first one's bits (or stay within the limit where the spec allows atomics)
//   poisoned                  freed memory is full of NaN when the op allocates
//   grad_mode                 forward with gradients recorded
//   grads_X                   backward where X alone requires a gradient; not_grads_X: all but X
//   upstream_strided, upstream_expanded      the upstream gradient in gaps of memory, or one slice with stride 0
//   batch                     one row of the batch at a time
//   pair_A                    between calls that differ in argument A alone: kernels that were cached for the other
//
// Layouts and gradients follow from the spec. What depends on the operator (a word a road: inplace, out, batch, pair_A) stands in
// forms.tsv beside the specs, which `driftgate docs --forms` makes by trying each on the CPU.
#include <filesystem>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "case/spec.hpp"

namespace driftgate {

enum class TwinKind : std::uint8_t {
  canonical, permuted, step2, offset, slice, channels_last, expanded, inplace, inplace_strided, out, inputs_kept, repeat, poisoned,
  grad_mode, grads, not_grads, upstream_strided, upstream_expanded, batch, pair
};

// Autocast leaves in-place and out= forms alone: under it they are another computation.
bool has_road(Policy policy, TwinKind kind);

struct Twin {
  TwinKind kind = TwinKind::canonical;
  std::string argument;                                  // "weight", "tensors.1"; empty where the kind names none
  std::string name = "canonical";                        // as in the id
};

// "add.Tensor/plain" -> its roads, in the order of the file.
using Forms = std::unordered_map<std::string, std::vector<std::string>>;
inline constexpr std::string_view kFormsFile = "forms.tsv";
Forms read_forms(const std::filesystem::path& directory);                    // empty without the file; Error `bad_forms`
std::string to_text(const Forms& forms);                                     // sorted

// A case or twin that a device does not take, by its contract or by an error of its own: a line "device<tab>glob<tab>why" of
// device_limits.tsv beside the specs; the glob is matched against op/set/direction/twin.
struct DeviceLimit {
  std::string device, glob, why;
};
inline constexpr std::string_view kDeviceLimitsFile = "device_limits.tsv";
std::vector<DeviceLimit> read_device_limits(const std::filesystem::path& directory);   // empty without the file; Error `bad_limit`

// All twins of an op ("aten::add.Tensor") and an argument set in one direction, canonical first. `roads`: its line in the forms, or
// nothing.
std::vector<Twin> twins_of(const Row& row, std::string_view op, const ArgumentSet& set, Direction direction, const std::vector<std::string>& roads);

}  // namespace driftgate
