// The CTest entries are declared by name in tests/CMakeLists.txt. A family that is missing there would never be run by CTest.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "case/case.hpp"

namespace driftgate {
namespace {

std::vector<std::string> declared() {
  std::vector<std::string> entries;
  std::istringstream list(DRIFTGATE_SUITE_ENTRIES);
  for (std::string entry; std::getline(list, entry, ',');) entries.push_back(entry);
  return entries;
}

std::set<std::string> specified() {
  std::set<std::string> entries;
  Suite::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tests/cases").for_each(Filter{}, [&](const Case& c) {
    entries.insert(c.row->family + "." + std::string(name(c.policy)));
  });
  return entries;
}

TEST(SuiteList, NamesEveryFamilyAndPolicyOfTheSpecsAndNoOther) {
  const std::vector<std::string> entries = declared();
  EXPECT_EQ(std::set<std::string>(entries.begin(), entries.end()), specified());
}

TEST(SuiteList, IsSortedByFamilyWithinEachLevelAndNamesNoneTwice) {
  std::vector<std::string> families;
  for (const std::string& entry : declared()) {
    const std::string family = entry.substr(0, entry.find('.'));
    if (families.empty() || families.back() != family) families.push_back(family);
  }
  int descents = 0;
  for (std::size_t i = 1; i < families.size(); ++i) descents += families[i] < families[i - 1];
  EXPECT_LE(descents, 3) << "operators, models, training, preprocess";
  EXPECT_EQ(std::set<std::string>(families.begin(), families.end()).size(), families.size());
}

TEST(SuiteList, EveryPolicyHasASmokeTier) {
  const Suite suite = Suite::load(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tests/cases");
  std::set<std::string> policies, smoke;
  suite.for_each(Filter{}, [&](const Case& c) {
    policies.insert(std::string(name(c.policy)));
    if (c.tier == SuiteTier::smoke) smoke.insert(std::string(name(c.policy)));
  });
  EXPECT_FALSE(smoke.empty());
  EXPECT_EQ(smoke, policies);
}

}  // namespace
}  // namespace driftgate
