#pragma once
// Which composite operators and autograd nodes a call is inside of, by thread. LibTorch tells through its RecordFunction callbacks.
#include <string>
#include <vector>

namespace driftgate {

struct Caller {
  std::string name, overload;                           // "aten::linear", ""; an autograd node is "AddmmBackward0"
};

void watch_callers();                                   // once a process
const std::vector<Caller>& callers();                   // of this thread, outermost first; the running operator itself is the last

// While it is alive, calls of this thread are not recorded: the device's own work on the CPU is nobody's caller.
class Unwatched {
 public:
  Unwatched();
  ~Unwatched();
  Unwatched(const Unwatched&) = delete;
  Unwatched& operator=(const Unwatched&) = delete;
};

}  // namespace driftgate
