#include "tensor/digest.hpp"

#include <xxhash.h>

namespace driftgate {
namespace {

Digest digest_of(const void* data, std::size_t size) {
  const XXH128_hash_t hash = XXH3_128bits(data, size);
  return {hash.high64, hash.low64};
}

}  // namespace

Digest digest(std::span<const std::byte> bytes) { return digest_of(bytes.data(), bytes.size()); }

Digest digest(std::string_view text) { return digest_of(text.data(), text.size()); }

Digest digest(const Buffer& buffer) {
  std::string identity(name(buffer.dtype));
  for (const std::int64_t extent : buffer.shape) identity += ',' + std::to_string(extent);
  return digest(identity + ':' + hex(digest(std::span<const std::byte>(buffer.bytes))));
}

std::string hex(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(32, '0');
  for (int i = 0; i < 16; ++i) {
    text[static_cast<std::size_t>(i)] = kDigits[digest.high >> (60 - 4 * i) & 15];
    text[static_cast<std::size_t>(16 + i)] = kDigits[digest.low >> (60 - 4 * i) & 15];
  }
  return text;
}

}  // namespace driftgate
