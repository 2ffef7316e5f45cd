#pragma once
// The bound `levels`: how far two pictures of 8 bits a channel differ. A device may round a value that lies between two levels either
// way, so one level is no fault by itself, but many are, and so is a single element that is further off:
//   required = the share of elements that differ, where none differs by more than one level; else the largest difference
// A limit below 1 thus says how many elements may be one level off, a limit of 2 that none may be more than two off.
#include <cstddef>
#include <span>

#include "compare/comparison.hpp"

namespace driftgate {

// u8 both; Error `bad_length`. `worst` is the first element of the largest difference; the exact family is filled beside levels.
Comparison compare_levels(std::span<const std::byte> candidate, std::span<const std::byte> reference);

}  // namespace driftgate
