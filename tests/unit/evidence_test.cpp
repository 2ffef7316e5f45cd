// The evidence folder: writing, resuming, reading and joining.
#include <csignal>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "error_name.hpp"
#include "evidence_records.hpp"

namespace driftgate {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kPlan = {"a/x/fp32/forward/canonical", "b/x/fp32/forward/canonical", "c/x/fp32/forward/canonical"};

void write_run(const fs::path& folder, const std::vector<std::string>& ids, bool resume = false) {
  EvidenceWriter writer(folder, run_of(kPlan), resume);
  for (const std::string& id : ids) writer.append(to_line(short_record(id)));
}

void add(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::app) << text; }

std::string read_error(const fs::path& folder) {
  return error_name([&] { read_evidence(folder); });
}

TEST(Evidence, ReadsBackWhatWasWrittenInPlanOrder) {
  TemporaryFolder tmp;
  const fs::path folder = tmp / "deep/run";
  {
    EvidenceWriter writer(folder, run_of(kPlan), false);
    EXPECT_TRUE(writer.done().empty());
    EXPECT_FALSE(read_evidence(folder).run.finished);
    writer.append(to_line(short_record(kPlan[2])));
    writer.append(to_line(short_record(kPlan[0])));
    writer.finish();
  }
  const Evidence evidence = read_evidence(folder);
  EXPECT_TRUE(evidence.run.finished);
  EXPECT_FALSE(evidence.torn_line);
  EXPECT_EQ(evidence.run.plan, kPlan);
  EXPECT_EQ(evidence.run.planned, 3);
  EXPECT_EQ(evidence.run.environment, run_of(kPlan).environment);
  ASSERT_EQ(evidence.cases.size(), 2u);
  EXPECT_EQ(evidence.cases[0].id, kPlan[0]);
  EXPECT_EQ(evidence.cases[1].id, kPlan[2]);
}

TEST(Evidence, LaterLineOfACaseReplacesTheEarlier) {
  TemporaryFolder tmp;
  write_run(tmp / "run", kPlan);
  add(tmp / "run/cases.jsonl", to_line(short_record(kPlan[0], "again")) + "\n");
  const Evidence evidence = read_evidence(tmp / "run");
  ASSERT_EQ(evidence.cases.size(), 3u);
  EXPECT_EQ(evidence.cases[0].message, "again");
}

TEST(Evidence, TornLastLineIsDroppedAndSaid) {
  const std::string whole = to_line(short_record(kPlan[1]));
  for (const std::string& torn : {whole.substr(0, 9), whole.substr(0, 9) + "\n", whole, std::string("\n")}) {
    TemporaryFolder tmp;
    write_run(tmp / "run", {kPlan[0]});
    add(tmp / "run/cases.jsonl", torn);
    const Evidence evidence = read_evidence(tmp / "run");
    EXPECT_TRUE(evidence.torn_line) << torn;
    ASSERT_EQ(evidence.cases.size(), 1u) << torn;
    EXPECT_EQ(evidence.cases[0].id, kPlan[0]);
  }
}

TEST(Evidence, BadLineThatIsNotTornIsAnError) {
  TemporaryFolder tmp;
  write_run(tmp / "middle", {kPlan[0]});
  add(tmp / "middle/cases.jsonl", "{\"id\":\n" + to_line(short_record(kPlan[1])) + "\n");
  EXPECT_EQ(read_error(tmp / "middle"), "bad_evidence");
  EXPECT_NE(error_text([&] { read_evidence(tmp / "middle"); }).find("cases.jsonl:2: "), std::string::npos);

  write_run(tmp / "unknown", {kPlan[0]});
  add(tmp / "unknown/cases.jsonl", "{\"id\":\"" + kPlan[1] + "\",\"colour\":1}\n");
  EXPECT_EQ(read_error(tmp / "unknown"), "bad_evidence") << "JSON is never a torn line";

  write_run(tmp / "foreign", {kPlan[0]});
  add(tmp / "foreign/cases.jsonl", to_line(short_record("d/x/fp32/forward/canonical")) + "\n");
  EXPECT_EQ(read_error(tmp / "foreign"), "foreign_case");
}

TEST(Evidence, RunFileIsReadStrictly) {
  TemporaryFolder tmp;
  write_run(tmp / "run", kPlan);
  const fs::path file = tmp / "run/run.json";
  const Json good = read_json(file);
  EXPECT_EQ(read_error(tmp / "run"), "");
  const auto error_with = [&](const std::string& key, const Json& value) {
    Json bad = good;
    if (value.is_null()) {
      bad.erase(key);
    } else {
      bad[key] = value;
    }
    write_text(file, bad.dump());
    return read_error(tmp / "run");
  };
  EXPECT_EQ(error_with("schema", "driftgate.evidence/2"), "other_schema");
  EXPECT_EQ(error_with("colour", 1), "unknown_key");
  EXPECT_EQ(error_with("device", Json()), "missing_key");
  EXPECT_EQ(error_with("finished", "yes"), "wrong_type");
  EXPECT_EQ(error_with("planned", 2), "bad_evidence") << "a plan that lost a case is no plan";
  EXPECT_EQ(error_with("plan", {kPlan[0], kPlan[1], kPlan[1]}), "bad_evidence");
  RunInfo twice = run_of({kPlan[0], kPlan[0]});
  write_text(file, to_json(twice).dump());
  EXPECT_EQ(read_error(tmp / "run"), "bad_evidence");
  EXPECT_EQ(read_error(tmp / "nowhere"), "unreadable");
}

TEST(EvidenceWriter, NeverOverwritesEvidence) {
  TemporaryFolder tmp;
  write_run(tmp / "run", {kPlan[0]});
  EXPECT_EQ(error_name([&] { EvidenceWriter(tmp / "run", run_of(kPlan), false); }), "evidence_exists");
  EXPECT_EQ(read_evidence(tmp / "run").cases.size(), 1u);
}

TEST(EvidenceWriter, ResumeKeepsWholeLinesAndCutsTheTornOne) {
  const std::string whole = to_line(short_record(kPlan[1]));
  for (const std::string& torn : {std::string(), whole.substr(0, 5), whole.substr(0, 5) + "\n", whole}) {
    TemporaryFolder tmp;
    write_run(tmp / "run", {kPlan[0]});
    add(tmp / "run/cases.jsonl", torn);
    {
      EvidenceWriter writer(tmp / "run", run_of(kPlan), true);
      EXPECT_EQ(writer.done(), std::vector<std::string>{kPlan[0]}) << torn;
      writer.append(to_line(short_record(kPlan[1])));
      writer.append(to_line(short_record(kPlan[2])));
    }
    const Evidence evidence = read_evidence(tmp / "run");
    EXPECT_FALSE(evidence.torn_line) << torn;
    EXPECT_EQ(evidence.cases.size(), 3u) << torn;
  }
}

TEST(EvidenceWriter, ResumeOfNothingStartsARun) {
  TemporaryFolder tmp;
  write_run(tmp / "run", kPlan, true);
  EXPECT_EQ(read_evidence(tmp / "run").cases.size(), 3u);
}

TEST(EvidenceWriter, ResumeRefusesAnotherPlanOrAnotherDevice) {
  TemporaryFolder tmp;
  write_run(tmp / "run", {kPlan[0]});
  EXPECT_EQ(error_name([&] { EvidenceWriter(tmp / "run", run_of({kPlan[0]}), true); }), "other_plan");
  RunInfo other = run_of(kPlan);
  other.environment["torch"] = "2.14.0";
  EXPECT_EQ(error_name([&] { EvidenceWriter(tmp / "run", other, true); }), "mixed_evidence");
  EXPECT_EQ(error_name([&] { EvidenceWriter(tmp / "run", run_of(kPlan), true); }), "");
}

TEST(EvidenceWriter, SaysBeforeTheRunThatAFolderCannotBeWritten) {
  TemporaryFolder tmp;
  add(tmp / "file", "not a folder");
  EXPECT_EQ(error_name([&] { EvidenceWriter(tmp / "file/run", run_of(kPlan), false); }), "unwritable");
}

TEST(EvidenceWriter, FullDiskIsAnErrorAndLeavesWholeLines) {
  TemporaryFolder tmp;
  EvidenceWriter writer(tmp / "run", run_of(kPlan), false);
  const std::string line = to_line(short_record(kPlan[0]));
  const std::string long_line = to_line(short_record(kPlan[1], std::string(1000, 'x')));
  writer.append(line);

  // A limit on the size of files stands in for the full disk: the write is cut short in the middle of the line.
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit full = before;
  full.rlim_cur = line.size() + 1 + long_line.size() / 2;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &full), 0);
  const std::string error = error_name([&] { writer.append(long_line); });
  const auto size = fs::file_size(tmp / "run/cases.jsonl");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(error, "unwritable");
  EXPECT_EQ(size, line.size() + 1);
  EXPECT_EQ(read_evidence(tmp / "run").cases.size(), 1u);
  writer.append(to_line(short_record(kPlan[2])));
  EXPECT_EQ(read_evidence(tmp / "run").cases.size(), 2u) << "room again: the next line stands on its own";
}

}  // namespace
}  // namespace driftgate
