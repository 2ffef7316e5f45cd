#pragma once
// Operators that have a kernel on MPS and none on the CPU, written with CPU operators.
#include "sim/profile.hpp"

namespace driftgate {

const std::map<std::string, Kernel, std::less<>>& composed_kernels();

}  // namespace driftgate
