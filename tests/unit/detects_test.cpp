// The fault files of tests/detects/: every report of mps_bugs.tsv is planted, or not planted with a reason; every class, every kind
// of effect and every condition has its faults.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "json.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kDetects = std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tests/detects";

using Reports = std::map<std::string, std::string>;      // class by id

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream row(line);
  for (std::string field; std::getline(row, field, '\t');) fields.push_back(field);
  return fields;
}

Reports read_reports(const std::string& table) {
  Reports reports;
  std::istringstream lines(table);
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "id\tclass\top\ttitle\ttrigger");
  while (std::getline(lines, line)) {
    const std::vector<std::string> row = fields_of(line);
    if (row.size() != 5) ADD_FAILURE() << "five fields are needed: " << line;
    else EXPECT_TRUE(reports.emplace(row[0], row[1]).second) << row[0] << " is given twice";
  }
  return reports;
}

Json faults(const std::string& file) { return read_json(kDetects / file).at("faults"); }

// What keeps the files from mapping every report exactly once, with its own class; nothing when they do.
std::set<std::string> mapping_flaws(const Reports& reports, const Json& planted, const Json& reasons) {
  std::set<std::string> flaws;
  std::map<std::string, int> mapped;
  for (const Json& fault : planted) {
    const std::string id = fault.value("id", "");
    ++mapped[id];
    const auto report = reports.find(id);
    if (report == reports.end()) flaws.insert(id + ": no such report");
    else if (fault.value("class", "") != report->second) flaws.insert(id + ": another class");
  }
  for (const Json& reason : reasons) {
    const std::string id = reason.value("id", "");
    ++mapped[id];
    if (reports.count(id) == 0) flaws.insert(id + ": no such report");
    if (reason.size() != 2 || reason.value("why", "").size() < 20) flaws.insert(id + ": no reason");
  }
  for (const auto& [id, klass] : reports)
    if (mapped[id] != 1) flaws.insert(id + ": mapped " + std::to_string(mapped[id]) + " times");
  return flaws;
}

TEST(Detects, EveryReportIsPlantedOrHasAReason) {
  const Reports reports = read_reports(read_text(kDetects / "mps_bugs.tsv"));
  EXPECT_GT(reports.size(), 200u);
  EXPECT_EQ(mapping_flaws(reports, faults("corpus.json"), read_json(kDetects / "not_planted.json").at("reasons")), std::set<std::string>{});
}

TEST(Detects, AReportMappedTwiceNotAtAllOrOtherwiseIsFound) {
  const Reports reports = {{"a#1", "x"}, {"a#2", "x"}, {"a#3", "x"}};
  const Json planted = parse_json(R"([{"id": "a#1", "class": "x"}, {"id": "a#2", "class": "y"}, {"id": "a#9", "class": "x"}])", "test");
  const Json reasons = parse_json(R"([{"id": "a#1", "why": "it is long enough to be a reason"}, {"id": "a#2", "why": "short"}])", "test");
  EXPECT_EQ(mapping_flaws(reports, planted, reasons),
            (std::set<std::string>{"a#1: mapped 2 times", "a#2: another class", "a#2: mapped 2 times", "a#2: no reason", "a#3: mapped 0 times",
                                   "a#9: no such report"}));
}

TEST(Detects, EveryClassThatCanBePlantedHasFiveFaults) {
  std::map<std::string, int> planted;
  for (const Json& fault : faults("classes.json")) ++planted[fault.at("class").get<std::string>()];
  std::set<std::string> few;
  for (const auto& [id, klass] : read_reports(read_text(kDetects / "mps_bugs.tsv")))
    if (klass != "undiagnosed-divergence" && planted[klass] < 5) few.insert(klass);
  EXPECT_EQ(few, std::set<std::string>{});
  EXPECT_EQ(planted.size(), 19u);
}

TEST(Detects, NoNameIsGivenTwiceInAFile) {
  for (const char* file : {"kinds.json", "classes.json", "corpus.json"}) {
    std::set<std::string> names;
    for (const Json& fault : faults(file)) EXPECT_TRUE(names.insert(fault.at("name").get<std::string>()).second) << file << ": " << fault;
  }
}

TEST(Detects, EveryEffectAndEveryConditionOccurs) {
  std::set<std::string> kinds, conditions;
  for (const Json& fault : faults("kinds.json")) {
    kinds.insert(fault.at("effect").at("kind").get<std::string>());
    if (fault.contains("when"))
      for (const auto& [key, value] : fault.at("when").items()) conditions.insert(key);
  }
  EXPECT_EQ(kinds.size(), 36u);
  EXPECT_EQ(conditions,
            (std::set<std::string>{"absent", "after_op", "arg", "arg_device", "attribute", "call", "dtype", "grad_mode", "inplace", "inside",
                                   "layout", "min_numel", "mixed_dtype", "ndim_at_least", "ndim_equals", "new_shape", "not_divisible",
                                   "relation", "size_at_least", "size_at_most", "size_equals", "value"}));
}

}  // namespace
}  // namespace driftgate
