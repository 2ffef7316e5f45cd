#pragma once
// The worker's side of detection.hpp. It opens the device already simulated, answers with a first line "{}", then reads one JSON
// object a line and answers each on file descriptor 3:
//
//   {"case": id, "fault": n}   runs and judges the case with the n-th fault planted; n = -1: no fault; n = -2: all are looked for.
//                              A fault stays planted, with what it remembers, while n stays the same.
//   -> {"state", "reason", "repeat", "micros", "activations", "matched": [n…], "prepared": [n…]}
#include "run/worker.hpp"
#include "sim/fault.hpp"

namespace driftgate {

inline constexpr int kNoFault = -1, kLookForAll = -2;

int work_on_faults(const WorkerOptions& options, const std::vector<Fault>& faults);

}  // namespace driftgate
