#pragma once
// The devices, and the only code that differs between them: is it here, wait for it, describe it, set its numeric flags.
//
// Everything above this file is the same for cpu, mps, cuda and sim. LibTorch is not named here, so that the supervisor and the
// command line need not include it.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json.hpp"

namespace driftgate {

enum class Device : std::uint8_t { cpu, mps, cuda, sim };

std::string_view name(Device device);
Device parse_device(std::string_view text);                // Error `bad_device`
bool available(Device device);                             // present, and a tensor can be made on it
Device best_device();                                      // mps, else cuda, else cpu
void poison_free_memory(Device device);                    // frees blocks of many sizes that are full of NaN
// Bytes of device memory that are in use, what waits to be reused left out; nullopt where nobody counts them.
std::optional<std::int64_t> bytes_in_use(Device device);
void synchronize(Device device);                           // returns when all queued work is done; errors surface here

// Numeric flags for a faithful run: TF32 and reduced-precision reductions off, deterministic algorithms (warn only), no cuDNN
// benchmark, one CPU thread. `tf32` turns TF32 on for matmul and cuDNN. Returns what was set, for the record.
Json set_numeric_flags(bool tf32);

// What the host says about the device and the build: torch version, device name, CPU capability, driver and library versions
// where they exist, the environment variables that change MPS numerics.
Json describe(Device device);

}  // namespace driftgate
