#pragma once
// What an allocator of our own says about itself (LibTorch has an interface for this since 2.9 only).
#include <cstdint>

namespace driftgate {

class CountedMemory {
 public:
  virtual ~CountedMemory() = default;
  virtual std::int64_t allocated() const = 0;           // bytes in use
};

}  // namespace driftgate
