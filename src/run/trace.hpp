#pragma once
// Which operators a case really calls: what LibTorch's profiling hook sees on the CPU, composites and autograd included.
#include <set>
#include <string>

#include "case/case.hpp"

namespace driftgate {

// "mm", without "aten::" and overload. Empty when the case does not run on the CPU.
std::set<std::string> traced_operators(const Case& c);

}  // namespace driftgate
