#include "case/philox.hpp"

#include <cstddef>

namespace driftgate {
namespace {

constexpr int kRounds = 10;

// kLanes independent counters side by side, so that the multiplications overlap.
template <std::size_t kLanes>
struct Lanes {
  std::uint32_t word[4][kLanes];

  void encrypt(PhiloxKey key) {
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t i = 0; i < kLanes; ++i) {
        const std::uint64_t even = std::uint64_t{0xD2511F53} * word[0][i];
        const std::uint64_t odd = std::uint64_t{0xCD9E8D57} * word[2][i];
        word[0][i] = static_cast<std::uint32_t>(odd >> 32) ^ word[1][i] ^ key.low;
        word[1][i] = static_cast<std::uint32_t>(odd);
        word[2][i] = static_cast<std::uint32_t>(even >> 32) ^ word[3][i] ^ key.high;
        word[3][i] = static_cast<std::uint32_t>(even);
      }
      key.low += 0x9E3779B9;
      key.high += 0xBB67AE85;
    }
  }
};

}  // namespace

PhiloxBlock philox(PhiloxKey key, PhiloxBlock counter) {
  Lanes<1> lane{{{counter[0]}, {counter[1]}, {counter[2]}, {counter[3]}}};
  lane.encrypt(key);
  return {lane.word[0][0], lane.word[1][0], lane.word[2][0], lane.word[3][0]};
}

void philox(PhiloxKey key, std::uint64_t first, std::uint32_t stream, std::uint32_t purpose, std::span<PhiloxBlock> blocks) {
  constexpr std::size_t kWidth = 4;
  std::size_t done = 0;
  for (; done + kWidth <= blocks.size(); done += kWidth) {
    Lanes<kWidth> lanes;
    for (std::size_t i = 0; i < kWidth; ++i) {
      const std::uint64_t counter = first + done + i;
      lanes.word[0][i] = static_cast<std::uint32_t>(counter);
      lanes.word[1][i] = static_cast<std::uint32_t>(counter >> 32);
      lanes.word[2][i] = stream;
      lanes.word[3][i] = purpose;
    }
    lanes.encrypt(key);
    for (std::size_t i = 0; i < kWidth; ++i) {
      blocks[done + i] = {lanes.word[0][i], lanes.word[1][i], lanes.word[2][i], lanes.word[3][i]};
    }
  }
  for (; done < blocks.size(); ++done) {
    const std::uint64_t counter = first + done;
    blocks[done] = philox(key, {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), stream, purpose});
  }
}

}  // namespace driftgate
