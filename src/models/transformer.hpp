#pragma once
// A pre-norm transformer block and what feeds it, for the models that are made of them.
#include "models/model.hpp"

namespace driftgate::models {

// Parameters "<name>.norm1", ".qkv", ".proj", ".norm2", ".up", ".down" of a block of this width.
void add_block(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t width);
// x: [batch, tokens, width]
at::Tensor block(const Tensors& tensors, const std::string& name, const at::Tensor& x, std::int64_t heads, bool causal);

}  // namespace driftgate::models
