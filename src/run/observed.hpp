#pragma once
// The policy observed, beside the one requested: what a device computed in, whatever it was asked.
#include <cstdint>
#include <map>
#include <string>

#include "case/spec.hpp"
#include "device/device.hpp"

namespace driftgate {

using DtypeCounts = std::map<std::string, std::int64_t>;  // dtype -> operators that gave it

// Counts the dtypes of the floating results of every operator that this thread calls while it is alive: the forward pass, and on the
// CPU the backward pass. One at a time.
class DtypeCapture {
 public:
  explicit DtypeCapture(DtypeCounts& counts);
  ~DtypeCapture();
  DtypeCapture(const DtypeCapture&) = delete;
  DtypeCapture& operator=(const DtypeCapture&) = delete;

 private:
  std::uint64_t handle_;
};

// Significant bits that a matrix product keeps of its inputs under the policy: 24 fp32, 11 tf32 and fp16, 8 bf16. 0 where it cannot run.
int significant_bits(Device device, Policy policy);

}  // namespace driftgate
