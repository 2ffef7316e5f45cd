#include "models/transformer.hpp"

#include <ATen/ATen.h>

namespace driftgate::models {
namespace {

at::Tensor attention(const Tensors& t, const std::string& name, const at::Tensor& x, std::int64_t heads, bool causal) {
  const std::int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
  std::vector<at::Tensor> parts;
  for (const at::Tensor& part : linear(t, name + ".qkv", x).chunk(3, -1)) parts.push_back(part.view({batch, tokens, heads, width / heads}).transpose(1, 2));
  const at::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], /*attn_mask=*/{}, /*dropout_p=*/0, causal);
  return linear(t, name + ".proj", mixed.transpose(1, 2).reshape({batch, tokens, width}));
}

}  // namespace

void add_block(std::vector<ProgramInput>& inputs, const std::string& name, std::int64_t width) {
  add_norm(inputs, name + ".norm1", width);
  add_linear(inputs, name + ".qkv", width, 3 * width);
  add_linear(inputs, name + ".proj", width, width);
  add_norm(inputs, name + ".norm2", width);
  add_linear(inputs, name + ".up", width, 4 * width);
  add_linear(inputs, name + ".down", 4 * width, width);
}

at::Tensor block(const Tensors& t, const std::string& name, const at::Tensor& x, std::int64_t heads, bool causal) {
  const at::Tensor mixed = x.add(attention(t, name, layer_norm(t, name + ".norm1", x), heads, causal));
  return mixed.add(linear(t, name + ".down", at::gelu(linear(t, name + ".up", layer_norm(t, name + ".norm2", mixed)))));
}

}  // namespace driftgate::models
