#pragma once
// The device's own random generator, as a user's code would drive it.
#include <ATen/core/Tensor.h>
#include <ATen/Context.h>
#include <ATen/core/Generator.h>

#include <cstdint>
#include <mutex>

namespace driftgate {

class Generator {
 public:
  explicit Generator(c10::Device device) : generator_(at::globalContext().defaultGenerator(device)) {}
  void seed(std::uint64_t value) {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_current_seed(value);
  }
  at::Tensor state() {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    return generator_.get_state().clone();
  }
  void set_state(const at::Tensor& state) {
    const std::lock_guard<std::mutex> lock(generator_.mutex());
    generator_.set_state(state);
  }

 private:
  at::Generator generator_;
};

}  // namespace driftgate
