#pragma once
// Where a program's error begins: every operator that the device runs, forward and backward, checked against fp64 from the device's own
// inputs (local_error.hpp). An operator that inherits an error agrees with it; the first that adds one is named, with its layer, and
// proved: with its results replaced by the CPU's, the rest on the device, the program's error is gone.
#include <optional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "device/device.hpp"
#include "run/local_error.hpp"

namespace driftgate {

inline constexpr double kMostLocalError = 16;           // `required` of a call; correct devices stay well below

struct TracedCall {
  std::string op;                                       // "aten::gelu", with its overload
  std::string layer;                                    // the parameter that it, its caller or the call before uses
  bool backward = false;
  int parent = -1;                                      // the call that made this one
  LocalError local;
};

struct ErrorTrace {
  std::string stage = "done", message;                  // of the traced run, or of the reference
  std::vector<TracedCall> calls;                        // in the order in which they began
  std::optional<std::size_t> first;                     // of those that add an error and call nothing that does
  std::string output;                                   // the worst of the program's outputs
  double required = 0;                                  // its, in units of its floor
  double substituted = 0;                               // the same with the operator of `first` on the CPU
};

// Of a case of a program; Error `usage` for an operator's.
ErrorTrace trace_error(const Case& c, Device device);

}  // namespace driftgate
