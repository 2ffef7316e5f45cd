#pragma once
// One child process with a pipe to its stdin and one from its file descriptor 3. POSIX.
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "run/supervisor.hpp"

namespace driftgate {

class WorkerProcess {
 public:
  // Its stderr and stdout are appended to `log`. Error `worker_failed` when it cannot be started.
  WorkerProcess(const WorkerCommand& command, const std::filesystem::path& log);
  ~WorkerProcess();                                     // kills it if it still runs
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  int result_fd() const { return results_; }
  bool send(const std::string& line);                   // false: it reads no more
  void close_input();
  // Reads what there is; false at the end of the stream. Whole lines are then taken with `next_line`.
  bool receive();
  std::optional<std::string> next_line();
  void kill();
  std::string wait();                                   // "exit 0", "SIGABRT", …

 private:
  pid_t pid_ = -1;
  int input_ = -1, results_ = -1;
  std::string buffer_;
};

}  // namespace driftgate
