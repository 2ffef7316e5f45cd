#pragma once
// Autocast for one device type while it is alive, when the policy is amp_fp16 or amp_bf16; nothing else. State is a thread's own.
#include <ATen/autocast_mode.h>

#include "case/spec.hpp"

namespace driftgate {

class Autocast {
 public:
  Autocast(c10::DeviceType device, Policy policy)
      : active_(is_amp(policy)),
        device_(device),
        before_(at::autocast::is_autocast_enabled(device)),
        dtype_(at::autocast::get_autocast_dtype(device)) {
    if (!active_) return;
    at::autocast::set_autocast_enabled(device, true);
    at::autocast::set_autocast_dtype(device, policy == Policy::amp_fp16 ? c10::kHalf : c10::kBFloat16);
    at::autocast::increment_nesting();
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
  ~Autocast() {
    if (!active_) return;
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();   // else the casts of dead weights stay
    at::autocast::set_autocast_dtype(device_, dtype_);
    at::autocast::set_autocast_enabled(device_, before_);
  }

 private:
  bool active_;
  c10::DeviceType device_;
  bool before_;
  c10::ScalarType dtype_;
};

}  // namespace driftgate
