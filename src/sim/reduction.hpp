#pragma once
// Faults of sums: matrix products, convolutions, reductions, computed again with another accumulator or without their last term.
#include "sim/effect.hpp"

namespace driftgate {

// The operand with the last term of the sum made neutral (0, or 1 of a product, or the least value of a maximum).
struct LastTerm {
  std::size_t position = 0;
  at::Tensor operand;
};
std::optional<LastTerm> without_last_term(const Call& call, const Stack& arguments);

// The first output with every partial sum rounded to `dtype`; where the operator is no plain sum, computed in `dtype` throughout.
// `arguments` are private copies, and `inner` may be called often.
at::Tensor accumulated_in(c10::ScalarType dtype, const Call& call, const Stack& arguments, const Compute& inner);

}  // namespace driftgate
