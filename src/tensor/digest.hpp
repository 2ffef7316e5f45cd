#pragma once
// XXH3-128 digests: the identity of inputs, outputs and golden files. Not a signature: it finds accidents, not forgers.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "tensor/buffer.hpp"

namespace driftgate {

struct Digest {
  std::uint64_t high = 0, low = 0;
  bool operator==(const Digest&) const = default;
};

Digest digest(std::span<const std::byte> bytes);
Digest digest(std::string_view text);
Digest digest(const Buffer& buffer);                         // dtype and shape count, so [2,3] and [3,2] differ
std::string hex(const Digest& digest);                       // 32 lower-case digits, high half first

}  // namespace driftgate
