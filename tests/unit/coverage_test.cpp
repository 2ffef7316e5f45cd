#include "report/coverage.hpp"

#include <gtest/gtest.h>

#include "json.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kHome = DRIFTGATE_SOURCE_DIR;

TEST(Coverage, CoversNineteenInTwentyAndExplainsTheRest) {
  const Coverage coverage = coverage_of(Suite::load(kHome / "tests/cases"), kHome / "data");
  EXPECT_EQ(coverage.ops.size(), 416U);
  EXPECT_GE(coverage.share(), 0.95);
  for (const CoveredOp& op : coverage.ops) EXPECT_TRUE(op.how != Covered::missing || !op.reason.empty()) << op.op;
}

TEST(Coverage, ItsDataSpeaksOfTheSuiteAsItIs) {
  for (const std::string& stale : coverage_of(Suite::load(kHome / "tests/cases"), kHome / "data").stale) ADD_FAILURE() << stale;
}

TEST(Coverage, TheDocumentIsUpToDate) {
  const Coverage coverage = coverage_of(Suite::load(kHome / "tests/cases"), kHome / "data");
  EXPECT_EQ(read_text(kHome / "docs/coverage.md"), coverage_document(coverage)) << "run `driftgate docs`";
}

TEST(Coverage, AnOperatorLessIsSeen) {
  std::vector<Row> rows = Suite::load(kHome / "tests/cases").rows();
  std::erase_if(rows, [](const Row& row) {
    return std::any_of(row.ops.begin(), row.ops.end(), [](const std::string& op) { return op.find("logcumsumexp") != std::string::npos; });
  });
  const Coverage coverage = coverage_of(Suite(std::move(rows)), kHome / "data");
  const auto scan = std::find_if(coverage.ops.begin(), coverage.ops.end(), [](const CoveredOp& op) { return op.op == "_logcumsumexp"; });
  ASSERT_NE(scan, coverage.ops.end());
  EXPECT_EQ(scan->how, Covered::missing);
  EXPECT_EQ(scan->reason, "") << "nothing excuses it";
  EXPECT_NE(read_text(kHome / "docs/coverage.md"), coverage_document(coverage));
}

TEST(Coverage, AReasonForWhatIsCoveredIsStale) {
  const Suite nothing(std::vector<Row>{});
  const Coverage coverage = coverage_of(nothing, kHome / "data");
  EXPECT_EQ(coverage.covered(), 0);
  EXPECT_FALSE(coverage.stale.empty()) << "the trace names cases that this suite lacks";
}

}  // namespace
}  // namespace driftgate
