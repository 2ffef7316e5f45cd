#pragma once
// Mutants of a good output: the faults that every tolerance row must reject, or it proves nothing.
//
// A good output is the fp64 reference rounded to its dtype. Most mutants are pure functions of it; those that need the op's
// inputs are made by running the reference again, and only named here.
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tensor/buffer.hpp"

namespace driftgate {

enum class Mutant : std::uint8_t {
  zeros,            // all zeros
  times_two,
  one_wrong,        // the element of median magnitude among those that are not 0, times 1.01
  shifted,          // rolled by one component
  transposed,       // the data of the last two dims in transposed order
  stale_tail,       // the last quarter holds the first quarter's values
  nan_to_zero,
  lost_bits,        // two significant bits fewer than the dtype has
  truncated,        // halves: rounded toward zero
  tf32_inputs,      // needs the inputs: rounded to 11 bits
  bf16_inputs,      // needs the inputs: rounded to 8 bits
  drop_last_term,   // needs the inputs: the last term of every sum is missing
  fp8_inputs,       // needs the inputs: rounded to 4 bits
};

std::string_view name(Mutant mutant);
std::vector<Mutant> all_mutants();
bool needs_inputs(Mutant mutant);

// The mutated output; nullopt where the mutant does not apply or equals the good output bit for bit.
// `reference`: the fp64 value of every component of `good`. A mutant that needs the inputs is nullopt.
std::optional<Buffer> mutate(Mutant mutant, const Buffer& good, std::span<const double> reference);

}  // namespace driftgate
