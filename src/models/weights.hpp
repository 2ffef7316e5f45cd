#pragma once
// Published weights: safetensors files that tools/weights.py makes from installed Python packages. They are not part of the checkout.
#include <string>

#include "tensor/safetensors.hpp"

namespace driftgate::models {

// "minilm": $DRIFTGATE_WEIGHTS/minilm.safetensors, else data/weights/minilm.safetensors of the checkout; read once. Error
// `weights_missing` when there is none: the cases of the model are skipped.
const Safetensors& weights(const std::string& name);

}  // namespace driftgate::models
