#pragma once
// The models, one file each: functional C++ over named tensors, with the initial scales of the field. Each is small: what matters is the
// way through the operators, not the size.
#include "models/program.hpp"

namespace driftgate::models {

Program convnet();
Program diffusion();
Program gpt();
Program lstm();
Program minilm();
Program mlp();
Program mtcnn();
Program recommender();
Program unet();
Program vit();

}  // namespace driftgate::models
