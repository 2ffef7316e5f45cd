#pragma once
// The generators behind case/fill.hpp: from random words to the unrounded components of a tensor.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "case/philox.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {

enum class Purpose : std::uint32_t { values, signs };

// The random words of one key, stream and purpose. Two that differ in any of these are independent.
struct Draws {
  Draws(const std::string& key, std::uint32_t stream, Purpose purpose);

  PhiloxKey key;
  std::uint32_t stream;
  Purpose purpose;
};

std::vector<double> draw_signs(const Draws& draws, std::size_t count);

// Every domain but "values". `first` and `second` are its parameters in the order of case/fill.hpp, already checked.
// `where` names the input when the shape does not suit the domain (Error `bad_fill`).
std::vector<double> draw_domain(std::string_view domain, double first, double second, const Draws& draws, const Shape& shape, std::size_t count,
                                const std::string& where);

}  // namespace driftgate
