#pragma once
// What a run records about its device before the first case, and the gate that every decision needs.
#include "device/device.hpp"

namespace driftgate {

// {"torch", "device", "host", "variables", "flags", "probes", "gate": {"available", "checks": [{"name", "ok", "detail"}]}}
// Probes observe the significant bits that a 64 x 64 matmul keeps of its operands, by policy: 24 of fp32, 11 if it is TF32-class.
// Sets the numeric flags for the whole process.
Json open_device(Device device, bool tf32);

}  // namespace driftgate
