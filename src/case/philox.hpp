#pragma once
// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011; vectors from Random123's kat_vectors).
//
// A pure function of key and counter: element i of a tensor depends on nothing but the tensor's key and i.
#include <array>
#include <cstdint>
#include <span>

namespace driftgate {

using PhiloxBlock = std::array<std::uint32_t, 4>;

struct PhiloxKey {
  std::uint32_t low = 0, high = 0;
};

PhiloxBlock philox(PhiloxKey key, PhiloxBlock counter);

// blocks[i] = philox(key, {first + i, low half first; stream; purpose}), many at a time.
void philox(PhiloxKey key, std::uint64_t first, std::uint32_t stream, std::uint32_t purpose, std::span<PhiloxBlock> blocks);

}  // namespace driftgate
