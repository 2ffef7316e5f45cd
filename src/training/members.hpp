#pragma once
// The ensemble that a training run is compared with: the same run, differing by round-off alone.
#include "run/program_case.hpp"

namespace driftgate {

// 32: the spread of 32 runs is known to an eighth of itself, and they cost a card seconds.
inline constexpr std::uint32_t kMembers = 32;

// The case as member `member` runs it. Member 0 is the case itself. In the others every starting weight moves by one step of its format, up or
// down, and the samples of each batch are in another order: the same gradient mathematically, summed differently.
PreparedProgram member_of(const PreparedProgram& prepared, std::uint32_t member);

}  // namespace driftgate
