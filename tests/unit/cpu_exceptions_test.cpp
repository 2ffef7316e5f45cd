// The operators that would have to run on the CPU for a higher level.
#include <gtest/gtest.h>

#include "judged_runs.hpp"

namespace driftgate {
namespace {

// One family of nine operators, and a model.
const Suite& suite() {
  static const Suite made([] {
    std::vector<Row> rows(2);
    for (Row& row : rows) {
      row.no_twins = {"*"};
      row.directions = {Direction::forward};
      ArgumentSet set;
      set.name = "plain";
      set.policies = {Policy::fp32};
      row.cases = {set};
    }
    rows[0].family = "unary";
    for (const char digit : std::string("123456789")) rows[0].ops.push_back(std::string("aten::op") + digit);
    rows[1].family = "models";
    rows[1].ops = {"model::mlp"};
    return rows;
  }());
  return made;
}

DecisionRules rules() {
  DecisionRules made;
  for (const char* leg : {"gate", "operators.forward", "models.forward"}) made.legs.push_back({leg, "w", 0.5, 0.5, 0, std::nullopt});
  made.levels = {{Level::inference, {"gate", "operators.forward", "models.forward"}, 0, "w"}};
  return made;
}

// What would raise the level once these operators fail.
std::vector<std::string> raise_after(const std::vector<std::string>& failing) {
  JudgedRun run = green_run(suite());
  for (Judgement& judgement : run.judgements)
    for (const std::string& op : failing)
      if (judgement.id.rfind(op + "/", 0) == 0) judgement.state = State::fail;
  recount(run);
  return decide(run, suite(), rules()).at(0).raise;
}

TEST(CpuExceptions, NamesTheFewOperatorsThatRefuse) {
  const std::vector<std::string> raise = raise_after({"op3", "op7"});
  ASSERT_EQ(raise.size(), 2U);
  EXPECT_EQ(raise[1], "or run op3, op7 on the CPU: all else earns inference");
}

TEST(CpuExceptions, NothingIsSaidWhereItWouldNotHelp) {
  EXPECT_TRUE(raise_after({}).empty());
  EXPECT_EQ(raise_after({"op3", "model.mlp"}).size(), 2U) << "a model fails too: one sentence a leg, no exception";
  for (const std::string& sentence : raise_after({"op3", "model.mlp"})) EXPECT_EQ(sentence.find("on the CPU"), std::string::npos) << sentence;
  EXPECT_EQ(raise_after({"op1", "op2", "op3", "op4", "op5", "op6"}).size(), 1U) << "six operators are no exception";
}

}  // namespace
}  // namespace driftgate
