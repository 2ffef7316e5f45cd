#include "run/supervisor.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <deque>
#include <memory>
#include <unordered_set>

#include "error.hpp"
#include "run/worker_process.hpp"

namespace driftgate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kWindow = 16;                     // ids sent ahead to a worker
constexpr int kMostDeadStarts = 3;                      // a worker that dies before its first line

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

struct Worker {
  std::unique_ptr<WorkerProcess> process;
  std::deque<std::string> sent;                         // unanswered, oldest first
  Clock::time_point since;                              // of the last answer
  bool greeted = false;
};

class Supervision {
 public:
  Supervision(const RunOptions& options, RunInfo header) : options_(options), log_(options.out.string() + ".worker.log") {
    summary_.run = std::move(header);
    summary_.run.planned = static_cast<std::int64_t>(options.plan.size());
    summary_.run.plan = options.plan;
    ::signal(SIGPIPE, SIG_IGN);
    std::error_code ignored;                            // the attempt to write says what is wrong
    if (log_.has_parent_path()) std::filesystem::create_directories(log_.parent_path(), ignored);
    write_text(log_, "");
  }

  RunSummary go() {
    const auto start = Clock::now();
    workers_.resize(static_cast<std::size_t>(std::max(1, options_.jobs)));
    start_worker(workers_[0]);
    while (!workers_[0].greeted) pump();                // the first worker's environment opens the evidence
    if (!summary_.available) {
      std::filesystem::remove(log_);
      return summary_;
    }
    const std::size_t wanted = std::min(workers_.size(), queue_.size() / kWindow + 1);
    for (std::size_t i = 1; i < wanted; ++i) start_worker(workers_[i]);
    while (busy()) pump();
    workers_.clear();
    writer_->finish();
    summary_.run.finished = true;
    summary_.seconds = seconds_since(start);
    progress(true);
    if (std::filesystem::exists(log_)) std::filesystem::rename(log_, options_.out / "worker.log");
    return summary_;
  }

 private:
  bool busy() const {
    for (const Worker& worker : workers_)
      if (!worker.sent.empty()) return true;
    return !queue_.empty();
  }

  void start_worker(Worker& worker) {
    worker.process = std::make_unique<WorkerProcess>(options_.worker, log_);
    worker.greeted = false;
    worker.since = Clock::now();
  }

  void open_evidence(const std::string& line) {
    Json environment = parse_json(line, "worker");
    summary_.available = environment["gate"]["available"].get<bool>();
    summary_.run.environment = std::move(environment);
    if (!summary_.available) return;
    writer_ = std::make_unique<EvidenceWriter>(options_.out, summary_.run, options_.resume);
    const std::unordered_set<std::string> done(writer_->done().begin(), writer_->done().end());
    summary_.resumed = static_cast<std::int64_t>(done.size());
    for (const std::string& id : options_.plan)
      if (!done.count(id)) queue_.push_back(id);
  }

  void feed(Worker& worker) {
    while (worker.greeted && worker.sent.size() < kWindow && !queue_.empty()) {
      if (worker.sent.empty()) worker.since = Clock::now();
      if (!worker.process->send(queue_.front() + "\n")) return;      // it died: pump() will see the end of its results
      worker.sent.push_back(std::move(queue_.front()));
      queue_.pop_front();
    }
  }

  void write(const std::string& line, const CaseRecord& record) {
    const auto start = Clock::now();
    writer_->append(line);
    summary_.phase_seconds[4] += seconds_since(start);
    for (std::size_t p = 0; p < record.micros.size(); ++p) summary_.phase_seconds[p] += static_cast<double>(record.micros[p]) * 1e-6;
    ++summary_.executed;
  }

  void answer(Worker& worker, const std::string& line) {
    worker.since = Clock::now();
    if (!worker.greeted) {
      worker.greeted = true;
      dead_starts_ = 0;
      if (!writer_) open_evidence(line);
      return;
    }
    CaseRecord record = parse_line(line, "worker");
    if (worker.sent.empty() || record.id != worker.sent.front())
      throw Error("worker_failed", "worker", "answered '" + record.id + "' out of turn", "see " + log_.string());
    worker.sent.pop_front();
    write(line, record);
  }

  // The worker ended: its oldest unanswered case is the reason, the others go back to the queue.
  void bury(Worker& worker, const char* stage) {
    const std::string how = worker.process->wait();
    ++summary_.restarts;
    if (!worker.greeted && ++dead_starts_ >= kMostDeadStarts)
      throw Error("worker_failed", options_.worker.program, "the worker ends before its first case: " + how, "see " + log_.string());
    // No case sends itself SIGKILL: somebody else did, or the memory ran out. Once is forgiven, so that a killed run resumes to the same
    // judgements; twice is the case's own.
    const bool forgiven = how == "SIGKILL" && std::string(stage) == "crashed" && !worker.sent.empty() && killed_.insert(worker.sent.front()).second;
    const bool blamed = !forgiven && how != "exit " + std::to_string(kDeviceLost);   // that case has its line already
    if (!worker.sent.empty() && blamed) {
      CaseRecord record;
      record.id = worker.sent.front();
      record.stage = stage;
      record.message = record.stage == "timed_out" ? "no answer within " + std::to_string(static_cast<int>(options_.timeout_seconds)) + " s" : how;
      worker.sent.pop_front();
      write(to_line(record), record);
    }
    while (!worker.sent.empty()) {
      queue_.push_front(std::move(worker.sent.back()));
      worker.sent.pop_back();
    }
    start_worker(worker);
  }

  void pump() {
    std::vector<pollfd> waiting;
    std::vector<Worker*> of;
    for (Worker& worker : workers_) {
      if (!worker.process) continue;
      feed(worker);
      waiting.push_back({worker.process->result_fd(), POLLIN, 0});
      of.push_back(&worker);
    }
    ::poll(waiting.data(), static_cast<nfds_t>(waiting.size()), 200);
    for (std::size_t i = 0; i < of.size(); ++i) {
      Worker& worker = *of[i];
      if (waiting[i].revents != 0) {
        const bool open = worker.process->receive();
        while (const auto line = worker.process->next_line()) answer(worker, *line);
        if (!open) bury(worker, "crashed");
      } else if ((!worker.greeted || !worker.sent.empty()) && seconds_since(worker.since) > options_.timeout_seconds) {
        worker.process->kill();
        bury(worker, "timed_out");
      }
    }
    progress(false);
  }

  void progress(bool last) {
    const bool terminal = ::isatty(STDERR_FILENO) != 0;
    if (!last && seconds_since(shown_) < (terminal ? 0.5 : 10)) return;
    shown_ = Clock::now();
    const double seconds = std::max(1e-9, seconds_since(begun_));
    std::fprintf(stderr, "%s%lld of %zu cases, %.0f a second%s", terminal ? "\r" : "", static_cast<long long>(summary_.executed + summary_.resumed),
                 options_.plan.size(), static_cast<double>(summary_.executed) / seconds, terminal && !last ? "" : "\n");
    std::fflush(stderr);
  }

  const RunOptions& options_;
  std::filesystem::path log_;
  RunSummary summary_;
  std::unique_ptr<EvidenceWriter> writer_;
  std::deque<std::string> queue_;
  std::unordered_set<std::string> killed_;              // ids whose worker was killed once
  std::vector<Worker> workers_;
  int dead_starts_ = 0;
  Clock::time_point begun_ = Clock::now(), shown_ = Clock::now();
};

}  // namespace

RunSummary supervise(const RunOptions& options, RunInfo header) { return Supervision(options, std::move(header)).go(); }

}  // namespace driftgate
