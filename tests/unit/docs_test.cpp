#include <gtest/gtest.h>

#include "json.hpp"
#include "report/table_doc.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kHome = DRIFTGATE_SOURCE_DIR;

TEST(Docs, TheToleranceTableIsUpToDate) {
  const ToleranceTable table = ToleranceTable::load(kHome / "tolerances");
  const Suite suite = Suite::load(kHome / "tests/cases");
  EXPECT_EQ(read_text(kHome / "docs/tolerances.md"), tolerance_document(table, suite)) << "run `driftgate docs`";
}

TEST(Docs, AMovedLimitMakesTheTableStale) {
  std::vector<ToleranceRow> rows = ToleranceTable::load(kHome / "tolerances").rows();
  const Suite suite = Suite::load(kHome / "tests/cases");
  rows.front().limit += 1;
  EXPECT_NE(read_text(kHome / "docs/tolerances.md"), tolerance_document(ToleranceTable(rows), suite));
}

TEST(Docs, EveryCaseOfTheSuiteHasExactlyOneRow) {
  const ToleranceTable table = ToleranceTable::load(kHome / "tolerances");
  const Suite suite = Suite::load(kHome / "tests/cases");
  std::int64_t cases = 0;
  suite.for_each(Filter::canonical(), [&](const Case& c) {
    ++cases;
    EXPECT_NO_THROW(table.row_for(c)) << c.id();
  });
  EXPECT_GE(cases, 2500);
}

TEST(Docs, EveryRowOfTheTableIsUsed) {
  const ToleranceTable table = ToleranceTable::load(kHome / "tolerances");
  const Suite suite = Suite::load(kHome / "tests/cases");
  std::set<std::string> used;
  suite.for_each(Filter::canonical(), [&](const Case& c) { used.insert(table.row_for(c).name); });
  for (const ToleranceRow& row : table.rows()) {
    EXPECT_TRUE(used.count(row.name)) << row.name;
    EXPECT_NO_THROW(suite.find(row.witness)) << row.name;
  }
}

}  // namespace
}  // namespace driftgate
