#include "case/philox.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace driftgate {
namespace {

// Random123, tests/kat_vectors: "philox4x32 10".
TEST(Philox, GivesThePublishedAnswers) {
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}), (PhiloxBlock{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}),
            (PhiloxBlock{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (PhiloxBlock{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, EveryBitOfKeyAndCounterCounts) {
  const PhiloxBlock original = philox({1, 2}, {3, 4, 5, 6});
  for (int bit = 0; bit < 32; ++bit) {
    const std::uint32_t flip = std::uint32_t{1} << bit;
    EXPECT_NE(philox({1 ^ flip, 2}, {3, 4, 5, 6}), original);
    EXPECT_NE(philox({1, 2 ^ flip}, {3, 4, 5, 6}), original);
    for (std::size_t word = 0; word < 4; ++word) {
      PhiloxBlock counter{3, 4, 5, 6};
      counter[word] ^= flip;
      EXPECT_NE(philox({1, 2}, counter), original);
    }
  }
}

TEST(Philox, ManyBlocksAtATimeAreTheSingleOnesInOrder) {
  const std::uint64_t first = 0xfffffffd;  // the low word of the counter wraps on the way
  for (std::size_t count = 0; count < 11; ++count) {
    std::vector<PhiloxBlock> blocks(count);
    philox({7, 8}, first, 9, 10, blocks);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t counter = first + i;
      EXPECT_EQ(blocks[i], philox({7, 8}, {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 9, 10}));
    }
  }
}

}  // namespace
}  // namespace driftgate
