// A whole run: every planned case has a judgement, and the counts add up.
#include <gtest/gtest.h>

#include "error_name.hpp"
#include "judge_fixture.hpp"

namespace driftgate {
namespace {

const std::vector<std::string> kPlan = {id_of("softmax", "fp32"), id_of("softmax", "fp16"), id_of("scatter", "fp32"),
                                        id_of("scatter", "fp16"), id_of("softmax", "bf16")};

ToleranceTable table() { return ToleranceTable({row_of("all", 64)}); }

// One pass, one mild and one gross fail, one skip, one that was not executed.
Evidence evidence() {
  Evidence result;
  result.run = run_of(kPlan);
  result.cases = {record_of(kPlan[0], {output_of(Bound::general, 32)}), record_of(kPlan[1], {output_of(Bound::general, 80)}),
                  record_of(kPlan[2], {output_of(Bound::general, 6400)}), short_record(kPlan[3])};
  result.cases[3].stage = "unsupported";
  return result;
}

TEST(Judge, GivesEveryPlannedCaseAJudgementAndCountsThem) {
  const ToleranceTable rows = table();
  const JudgedRun run = judge(evidence(), small_suite(), rows);
  ASSERT_EQ(run.judgements.size(), 5u);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(run.judgements[i].id, kPlan[i]);
  const Counts& n = run.counts;
  EXPECT_EQ(n.planned, 5);
  EXPECT_EQ(n.executed, 3);
  EXPECT_EQ(n.pass, 1);
  EXPECT_EQ(n.fail, 2);
  EXPECT_EQ(n.skip, 1);
  EXPECT_EQ(n.error, 1);
  EXPECT_EQ(n.untrusted, 0);
  EXPECT_EQ(n.approved, 0);
  EXPECT_EQ(run.judgements[0].family, "softmax");
  EXPECT_EQ(run.judgements[0].row, &rows.rows()[0]);
  EXPECT_EQ(run.judgements[1].policy, Policy::fp16);
}

TEST(Judge, PlannedCaseWithoutALineIsAnError) {
  const JudgedRun run = judge(evidence(), small_suite(), table());
  EXPECT_EQ(verdict(run.judgements[4]), "error not_executed");
  EXPECT_EQ(run.judgements[4].repeat, State::skip);
  Evidence complete = evidence();
  complete.cases.push_back(record_of(kPlan[4], {output_of(Bound::general, 1)}));
  EXPECT_EQ(verdict(judge(complete, small_suite(), table()).judgements[4]), "pass");
}

TEST(Judge, NothingExecutedLeavesNoPass) {
  Evidence empty = evidence();
  empty.cases.clear();
  const JudgedRun run = judge(empty, small_suite(), table());
  EXPECT_EQ(run.counts.executed, 0);
  EXPECT_EQ(run.counts.pass, 0);
  EXPECT_EQ(run.counts.error, 5);
}

TEST(Judge, ReproCommandRepeatsTheCase) {
  const JudgedRun run = judge(evidence(), small_suite(), table());
  EXPECT_EQ(run.judgements[0].repro, "driftgate run --device mps 'softmax.int/wide/fp32/forward/canonical'");
}

TEST(Judge, RefusesACaseThatTheSuiteOrTheTableDoesNotKnow) {
  Evidence unknown = evidence();
  unknown.run.plan.push_back("gone.int/wide/fp32/forward/canonical");
  EXPECT_EQ(error_name([&] { judge(unknown, small_suite(), table()); }), "unknown_case");
  EXPECT_EQ(error_name([] { judge(evidence(), small_suite(), ToleranceTable({})); }), "no_row");
  EXPECT_EQ(error_name([] { judge(evidence(), small_suite(), ToleranceTable({row_of("a", 1), row_of("b", 2)})); }), "two_rows");
}

TEST(Judge, MovedLimitChangesTheVerdictOnTheSameEvidence) {
  EXPECT_EQ(judge(evidence(), small_suite(), ToleranceTable({row_of("all", 31)})).counts.pass, 0);
  EXPECT_EQ(judge(evidence(), small_suite(), ToleranceTable({row_of("all", 6400)})).counts.fail, 0);
}

TEST(Judge, DeviationsListFailsWorstFirstThenTheUnproven) {
  Evidence mixed = evidence();
  mixed.cases.push_back(record_of(kPlan[4], {output_of(Bound::general, 1)}));
  mixed.cases[0].inert = {"self"};
  mixed.cases[3] = short_record(kPlan[3]);
  const JudgedRun run = judge(mixed, small_suite(), table());
  std::vector<std::string> listed;
  for (const Judgement* j : deviations(run)) listed.push_back(j->id + ": " + verdict(*j));
  const std::vector<std::string> expected = {kPlan[2] + ": fail over_limit", kPlan[1] + ": fail over_limit",
                                             kPlan[0] + ": untrusted inert_input", kPlan[3] + ": error no_output"};
  EXPECT_EQ(listed, expected) << "a pass is no deviation";
}

TEST(Judge, CrashComesBeforeEveryNumber) {
  Evidence crashed = evidence();
  crashed.cases[1].stage = "crashed";
  crashed.cases[1].outputs.clear();
  EXPECT_EQ(deviations(judge(crashed, small_suite(), table())).front()->id, kPlan[1]);
}

TEST(LimitShare, NothingNeededIsNoShareAndNotANumberTheLargest) {
  EXPECT_EQ(limit_share(0, 0), 0);
  EXPECT_EQ(limit_share(32, 64), 0.5);
  EXPECT_EQ(limit_share(1, 0), kInf);
  EXPECT_EQ(limit_share(kAbsent, 64), kInf);
  EXPECT_EQ(limit_share(1, kAbsent), kInf);
}

}  // namespace
}  // namespace driftgate
