#include "tensor/digest.hpp"

#include <gtest/gtest.h>

namespace driftgate {
namespace {

// xxHash's own values: xxh128sum of an empty file, and of "abc".
TEST(Digest, IsXxh3OfTheBytes) {
  EXPECT_EQ(hex(digest(std::string_view())), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hex(digest(std::string_view("abc"))), "06b05ab6733a618578af5f94892f3950");
}

TEST(Digest, HexWritesTheHighHalfFirstWithItsZeros) { EXPECT_EQ(hex({0x0123456789abcdef, 0x1}), "0123456789abcdef0000000000000001"); }

TEST(Digest, BytesAndTextOfTheSameContentAgree) {
  const std::byte bytes[] = {std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  EXPECT_EQ(digest(std::span<const std::byte>(bytes)), digest(std::string_view("abc")));
  EXPECT_FALSE(digest(std::span<const std::byte>(bytes).first(2)) == digest(std::string_view("abc")));
}

TEST(Digest, ShapeTypeAndEveryBitOfATensorCount) {
  const Buffer buffer = from_doubles(DType::f32, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Digest original = digest(buffer);
  EXPECT_EQ(digest(Buffer(buffer)), original);

  Buffer other = buffer;
  other.shape = {3, 2};
  EXPECT_FALSE(digest(other) == original);
  other = buffer;
  other.dtype = DType::i32;
  EXPECT_FALSE(digest(other) == original);
  other = buffer;
  other.bytes[7] ^= std::byte{1};
  EXPECT_FALSE(digest(other) == original);
  EXPECT_FALSE(digest(from_doubles(DType::f32, {1}, {0.0})) == digest(from_doubles(DType::f32, {1}, {-0.0})));
}

TEST(Digest, EmptyTensorsOfDifferentShapesDiffer) { EXPECT_FALSE(digest(Buffer(DType::f32, {0, 3})) == digest(Buffer(DType::f32, {3, 0}))); }

}  // namespace
}  // namespace driftgate
