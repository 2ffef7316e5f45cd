#pragma once
// Changes of one tensor's values, as the effects need them. They return a new tensor of the same shape and dtype.
#include <ATen/ATen.h>

#include "sim/fault.hpp"

namespace driftgate {

// Output edits that need nothing but the output: scale, add_ulps, round_output, zero_output, …; the tensor itself for another kind.
at::Tensor edited(const Effect& effect, const at::Tensor& value, std::int64_t activation);
at::Tensor rounded(const at::Tensor& value, std::int64_t bits);        // to so many significant bits, ties to even; integers too
at::Tensor flushed(const at::Tensor& value);                           // subnormals to zero
at::Tensor truncated_to(const at::Tensor& wide, c10::ScalarType dtype);  // toward zero
// The elements' bytes read as another dtype; what they do not fill is zero.
at::Tensor reinterpreted(const at::Tensor& value, c10::ScalarType dtype);

}  // namespace driftgate
