#include "run/supervisor.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>

#include "error.hpp"

namespace driftgate {
namespace {

class Supervisor : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("driftgate_supervisor_" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  RunOptions options(const std::vector<std::string>& ops) const {
    RunOptions options;
    options.worker = {DRIFTGATE_FAKE_WORKER, {}};
    options.out = root_ / "evidence";
    for (std::size_t i = 0; i < ops.size(); ++i) options.plan.push_back(ops[i] + "/a" + std::to_string(i) + "/fp32/forward/canonical");
    return options;
  }

  static RunInfo header() {
    RunInfo run;
    run.device = "cpu";
    run.tool_version = "test";
    return run;
  }

  std::map<std::string, std::string> stages() const {
    std::map<std::string, std::string> by_op;
    for (const CaseRecord& record : read_evidence(root_ / "evidence").cases)
      by_op[record.id.substr(0, record.id.find('/'))] = record.stage + (record.message.empty() ? "" : " " + record.message);
    return by_op;
  }

  std::filesystem::path root_;
};

TEST_F(Supervisor, ExecutesEveryPlannedCase) {
  const RunSummary summary = supervise(options({"add", "mul", "sub"}), header());
  EXPECT_TRUE(summary.available);
  EXPECT_EQ(summary.executed, 3);
  EXPECT_EQ(summary.restarts, 0);
  const Evidence evidence = read_evidence(root_ / "evidence");
  EXPECT_TRUE(evidence.run.finished);
  EXPECT_EQ(evidence.cases.size(), 3U);
}

TEST_F(Supervisor, GivesACrashToItsCaseAndGoesOnBehindIt) {
  const RunSummary summary = supervise(options({"add", "abort", "mul", "segv", "exit", "sub"}), header());
  EXPECT_EQ(summary.executed, 6);
  EXPECT_EQ(summary.restarts, 3);
  const auto stage = stages();
  EXPECT_EQ(stage.at("abort"), "crashed SIGABRT");
  EXPECT_EQ(stage.at("segv"), "crashed SIGSEGV");
  EXPECT_EQ(stage.at("exit"), "crashed exit 7");
  for (const char* fine : {"add", "mul", "sub"}) EXPECT_EQ(stage.at(fine), "done");
}

TEST_F(Supervisor, ForgivesOneKillFromOutsideButNotTwo) {
  RunOptions once = options({"add", "kill", "mul"});
  once.worker.arguments = {"--marker", (root_ / "marker").string()};
  EXPECT_EQ(supervise(once, header()).executed, 3);
  EXPECT_EQ(stages().at("kill"), "done");

  std::filesystem::remove_all(root_ / "evidence");
  supervise(options({"add", "kill", "mul"}), header());
  EXPECT_EQ(stages().at("kill"), "crashed SIGKILL");
  EXPECT_EQ(stages().at("mul"), "done");
}

TEST_F(Supervisor, KillsACaseThatHangs) {
  RunOptions hanging = options({"add", "hang", "mul"});
  hanging.timeout_seconds = 0.5;
  supervise(hanging, header());
  const auto stage = stages();
  EXPECT_EQ(stage.at("hang").substr(0, 9), "timed_out");
  EXPECT_EQ(stage.at("mul"), "done");
}

TEST_F(Supervisor, RunsTheSameCasesWithSeveralWorkers) {
  std::vector<std::string> ops(100, "add");
  ops[40] = "abort";
  RunOptions two = options(ops);
  two.jobs = 2;
  EXPECT_EQ(supervise(two, header()).executed, 100);
  std::int64_t crashed = 0;
  for (const CaseRecord& record : read_evidence(root_ / "evidence").cases) crashed += record.stage == "crashed";
  EXPECT_EQ(crashed, 1);
}

TEST_F(Supervisor, WritesNothingWhenTheDeviceIsAbsent) {
  RunOptions absent = options({"add"});
  absent.worker.arguments = {"--absent"};
  EXPECT_FALSE(supervise(absent, header()).available);
  EXPECT_FALSE(std::filesystem::exists(root_ / "evidence" / "run.json"));
}

TEST_F(Supervisor, RefusesAWorkerThatNeverStarts) {
  RunOptions stillborn = options({"add"});
  stillborn.worker.arguments = {"--stillborn"};
  try {
    supervise(stillborn, header());
    FAIL() << "a worker that ends at once was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.name(), "worker_failed");
  }
}

TEST_F(Supervisor, RefusesAnAnswerForAnotherCase) { EXPECT_THROW(supervise(options({"add", "lie"}), header()), Error); }

TEST_F(Supervisor, ResumesARunWhoseSupervisorWasKilled) {
  std::vector<std::string> ops(60, "slow");
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    supervise(options(ops), header());
    ::_exit(0);
  }
  ::usleep(600000);
  ::kill(child, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the run ended before it could be killed";

  RunOptions again = options(ops);
  EXPECT_THROW(supervise(again, header()), Error) << "evidence was written over";
  again.resume = true;
  const RunSummary summary = supervise(again, header());
  EXPECT_GT(summary.resumed, 0);
  EXPECT_EQ(summary.resumed + summary.executed, 60);
  EXPECT_EQ(read_evidence(root_ / "evidence").cases.size(), 60U);
}

}  // namespace
}  // namespace driftgate
