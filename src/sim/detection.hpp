#pragma once
// Which planted faults the suite catches: each fault alone, on the cases whose calls it can touch.
//
// An index says which: made by one run without faults, in which every fault is looked for and none acts; it stays in the out folder.
// A fault is caught when a case that passes without it, in the index and again in a control run, does not pass with it.
#include <filesystem>
#include <string>
#include <vector>

#include "run/supervisor.hpp"
#include "sim/fault.hpp"

namespace driftgate {

enum class Detected : std::uint8_t { caught, missed, not_exercised };
std::string_view name(Detected state);

struct FaultResult {
  Fault fault;
  Detected state = Detected::not_exercised;
  std::vector<std::string> by;                          // the cases that caught it, at most kEnough
};

struct Detection {
  std::vector<FaultResult> faults;                      // in the order of the file
  std::vector<std::string> control_alarms;              // cases that pass in the index and not in the control run
  std::int64_t count(Detected state) const;
};

struct DetectOptions {
  WorkerCommand worker;                                 // detection_worker.hpp's side
  std::filesystem::path out;
  std::string key;                                      // of everything that the index depends on beside plan and faults
  std::vector<std::string> plan;
  int jobs = 1;
  double timeout_seconds = 20;                          // for one case
};

inline constexpr std::size_t kEnough = 5;               // cases that catch a fault before it is left
inline constexpr std::size_t kMostCases = 1500;        // tried on one fault

// Progress goes to stderr. Error `worker_failed`.
Detection detect(const DetectOptions& options, const std::vector<Fault>& faults);

}  // namespace driftgate
