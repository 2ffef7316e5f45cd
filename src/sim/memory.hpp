#pragma once
// The device's memory: a caching allocator. A freed block is handed out again as it was left, as on a real device; fresh ones are zeros.
#include <ATen/ATen.h>
#include <c10/core/Allocator.h>

#include <map>
#include <mutex>
#include <vector>

#include "device/counted_memory.hpp"

namespace driftgate {

class SimulatedMemory : public c10::Allocator, public CountedMemory {
 public:
  static SimulatedMemory& instance();

  c10::DataPtr allocate(std::size_t bytes) override;
  void copy_data(void* to, const void* from, std::size_t bytes) const override;
  c10::DeleterFnPtr raw_deleter() const override;

  std::int64_t allocated() const override;
  void release_cache();                                 // frees every block that nobody uses

 private:
  static void give_back(void* data);

  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<void*>> free_;      // by block size
  std::map<void*, std::size_t> used_;
  std::int64_t allocated_ = 0, cached_ = 0;
};

// A CPU tensor with the content that a new allocation of this size would have on the device.
at::Tensor leftover(at::IntArrayRef sizes, c10::ScalarType dtype);

}  // namespace driftgate
