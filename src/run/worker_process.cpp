#include "run/worker_process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "error.hpp"

extern char** environ;

namespace driftgate {
namespace {

constexpr int kResultFd = 3;

std::array<int, 2> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) throw Error("worker_failed", "worker", std::string("no pipe: ") + std::strerror(errno));
  // Above the child's own descriptors, and never inherited by the next child.
  for (int& end : ends) {
    const int moved = ::fcntl(end, F_DUPFD_CLOEXEC, 10);
    ::close(end);
    end = moved;
  }
  return ends;
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGABRT: return "SIGABRT";
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGKILL: return "SIGKILL";
    case SIGTERM: return "SIGTERM";
    case SIGTRAP: return "SIGTRAP";
    default: return "signal " + std::to_string(signal);
  }
}

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command, const std::filesystem::path& log) {
  const std::array<int, 2> input = make_pipe(), results = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, results[1], kResultFd);
  std::vector<char*> argv;
  argv.push_back(const_cast<char*>(command.program.c_str()));
  for (const std::string& argument : command.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int failed = ::posix_spawn(&pid_, command.program.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(input[0]);
  ::close(results[1]);
  input_ = input[1];
  results_ = results[0];
  if (failed != 0) {
    pid_ = -1;
    throw Error("worker_failed", command.program, std::strerror(failed));
  }
}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) {
    kill();
    wait();
  }
  close_input();
  if (results_ >= 0) ::close(results_);
}

bool WorkerProcess::send(const std::string& line) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::write(input_, line.data() + sent, line.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

void WorkerProcess::close_input() {
  if (input_ >= 0) ::close(input_);
  input_ = -1;
}

bool WorkerProcess::receive() {
  std::array<char, 1 << 16> block;
  ssize_t n = 0;
  do n = ::read(results_, block.data(), block.size());
  while (n < 0 && errno == EINTR);
  if (n <= 0) return false;
  buffer_.append(block.data(), static_cast<std::size_t>(n));
  return true;
}

std::optional<std::string> WorkerProcess::next_line() {
  const std::size_t end = buffer_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);
  return line;
}

void WorkerProcess::kill() { ::kill(pid_, SIGKILL); }

std::string WorkerProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return WIFSIGNALED(status) ? signal_name(WTERMSIG(status)) : "exit " + std::to_string(WEXITSTATUS(status));
}

}  // namespace driftgate
