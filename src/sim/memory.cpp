#include "sim/memory.hpp"

#include <cstring>
#include <new>

namespace driftgate {
namespace {

constexpr std::align_val_t kAlignment{64};
constexpr std::int64_t kMostCached = std::int64_t{1} << 30;
const c10::Device kDevice(c10::kPrivateUse1, 0);

// Powers of two up to 1 MiB, then whole MiB: a block fits many sizes, so that memory is reused soon.
std::size_t block_size(std::size_t bytes) {
  constexpr std::size_t kMebi = std::size_t{1} << 20;
  if (bytes > kMebi) return (bytes + kMebi - 1) / kMebi * kMebi;
  std::size_t size = 64;
  while (size < bytes) size *= 2;
  return size;
}

}  // namespace

SimulatedMemory& SimulatedMemory::instance() {
  static SimulatedMemory* const memory = new SimulatedMemory;          // tensors may outlive every static object
  return *memory;
}

c10::DataPtr SimulatedMemory::allocate(std::size_t bytes) {
  if (bytes == 0) return {nullptr, kDevice};
  const std::size_t size = block_size(bytes);
  const std::lock_guard lock(mutex_);
  std::vector<void*>& blocks = free_[size];
  void* data = nullptr;
  if (blocks.empty()) {
    data = ::operator new(size, kAlignment);
    std::memset(data, 0, size);
  } else {
    data = blocks.back();
    blocks.pop_back();
    cached_ -= static_cast<std::int64_t>(size);
  }
  used_[data] = size;
  allocated_ += static_cast<std::int64_t>(size);
  return {data, data, &SimulatedMemory::give_back, kDevice};
}

void SimulatedMemory::copy_data(void* to, const void* from, std::size_t bytes) const { default_copy_data(to, from, bytes); }

c10::DeleterFnPtr SimulatedMemory::raw_deleter() const { return &SimulatedMemory::give_back; }

void SimulatedMemory::give_back(void* data) {
  SimulatedMemory& memory = instance();
  bool full = false;
  {
    const std::lock_guard lock(memory.mutex_);
    const auto found = memory.used_.find(data);
    if (found == memory.used_.end()) return;
    const std::size_t size = found->second;
    memory.used_.erase(found);
    memory.free_[size].push_back(data);
    memory.allocated_ -= static_cast<std::int64_t>(size);
    memory.cached_ += static_cast<std::int64_t>(size);
    full = memory.cached_ > kMostCached;
  }
  if (full) memory.release_cache();
}

std::int64_t SimulatedMemory::allocated() const {
  const std::lock_guard lock(mutex_);
  return allocated_;
}

void SimulatedMemory::release_cache() {
  const std::lock_guard lock(mutex_);
  for (auto& [size, blocks] : free_)
    for (void* block : blocks) ::operator delete(block, kAlignment);
  free_.clear();
  cached_ = 0;
}

at::Tensor leftover(at::IntArrayRef sizes, c10::ScalarType dtype) {
  at::Tensor tensor = at::empty(sizes, at::TensorOptions().dtype(dtype).device(c10::kCPU));
  const c10::DataPtr block = SimulatedMemory::instance().allocate(tensor.nbytes());
  if (tensor.nbytes() > 0) std::memcpy(tensor.data_ptr(), block.get(), tensor.nbytes());
  return tensor;
}

}  // namespace driftgate
