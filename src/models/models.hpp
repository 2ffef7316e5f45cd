#pragma once
// The models, one file each: functional C++ over named tensors, with the initial scales of the field. Each is small: what matters is the
// way through the operators, not the size.
#include "models/program.hpp"

namespace driftgate::models {

Program mlp();

}  // namespace driftgate::models
