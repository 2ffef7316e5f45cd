#include "training/members.hpp"

#include <cmath>
#include <cstring>
#include <string>

namespace driftgate {
namespace {

void move_weights(PreparedInput& input, const std::string& key, std::uint32_t member) {
  std::vector<double> values = to_doubles(input.buffer);
  const std::vector<double> signs = random_signs(key, member, values.size());
  const int precision = float_format(input.buffer.dtype).precision;
  for (std::size_t i = 0; i < values.size(); ++i) {
    int exponent = 0;
    std::frexp(values[i], &exponent);
    values[i] += signs[i] * std::ldexp(1.0, exponent - precision);
  }
  input.buffer = from_doubles(input.buffer.dtype, input.buffer.shape, values);
}

std::vector<std::size_t> order(const std::string& key, std::int64_t samples) {
  const Buffer shuffled = fill_tensor(parse_fill("permutation", "members"), DType::i64, {samples}, key);
  std::vector<std::size_t> places;
  for (const double place : to_doubles(shuffled)) places.push_back(static_cast<std::size_t>(place));
  return places;
}

// [steps, samples, …]: one order a step, the same for every tensor of the batch.
void permute_batches(PreparedInput& input, const std::string& key) {
  const std::int64_t steps = input.buffer.shape[0], samples = input.buffer.shape[1];
  const std::size_t row = input.buffer.bytes.size() / static_cast<std::size_t>(steps * samples);
  const std::vector<std::byte> before = input.buffer.bytes;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::vector<std::size_t> places = order(key + "/" + std::to_string(step), samples);
    const std::size_t base = static_cast<std::size_t>(step * samples);
    for (std::size_t i = 0; i < places.size(); ++i)
      std::memcpy(input.buffer.bytes.data() + (base + i) * row, before.data() + (base + places[i]) * row, row);
  }
}

}  // namespace

PreparedProgram member_of(const PreparedProgram& prepared, std::uint32_t member) {
  PreparedProgram moved = prepared;
  if (member == 0) return moved;
  const std::string key = prepared.key + "/member" + std::to_string(member);
  for (PreparedInput& input : moved.inputs) {
    if (input.differentiable) move_weights(input, prepared.key + "/" + input.name, member);
    if (input.name.starts_with("batch.")) permute_batches(input, key);
  }
  return moved;
}

}  // namespace driftgate
