#pragma once
// Runs cases in worker processes and writes what they find: a crash, a hang or an exhausted memory costs one case, never the run.
//
// A worker is this program again (`driftgate worker …`). It reads case ids from stdin and answers each with one evidence line on file
// descriptor 3, in order; its first line is the environment. The first unanswered id of a worker that dies is the case it died of;
// the worker is started again behind it (after a SIGKILL, which may come from outside,
// that case is tried once more). A worker ends when its stdin closes, so killing the supervisor leaves none behind.
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "evidence/evidence.hpp"

namespace driftgate {

inline constexpr int kDeviceLost = 75;                   // exit code of a worker whose device answers nothing any more; no case is blamed for its end

struct WorkerCommand {
  std::string program;
  std::vector<std::string> arguments;
};

struct RunOptions {
  WorkerCommand worker;
  std::filesystem::path out;
  std::vector<std::string> plan;                        // case ids, in order
  int jobs = 1;
  double timeout_seconds = 120;                         // for one case
  bool resume = false;
};

struct RunSummary {
  RunInfo run;
  bool available = false;                               // the device is here; nothing is written when it is not
  std::int64_t executed = 0, resumed = 0, restarts = 0;
  double seconds = 0;
  std::array<double, 5> phase_seconds{};                // fill, reference, run, compare, write; summed over workers
};

// `header` becomes run.json's device, golden and tool version. Progress goes to stderr. Errors are those of EvidenceWriter.
RunSummary supervise(const RunOptions& options, RunInfo header);

}  // namespace driftgate
