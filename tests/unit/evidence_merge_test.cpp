// Joining evidence: shards of one run join, anything else is refused.
#include <gtest/gtest.h>

#include "error_name.hpp"
#include "evidence_records.hpp"

namespace driftgate {
namespace {

Evidence part(const std::vector<std::string>& plan) {
  Evidence evidence;
  evidence.run = run_of(plan);
  evidence.run.finished = true;
  for (const std::string& id : plan) evidence.cases.push_back(short_record(id));
  return evidence;
}

std::string merge_text(const Evidence& a, const Evidence& b) {
  return error_text([&] { merge({a, b}); });
}

TEST(Merge, JoinsShardsIntoOnePlan) {
  Evidence second = part({"b", "d"});
  second.torn_line = true;
  second.run.finished = false;
  const Evidence joined = merge({part({"a", "c"}), second});
  const std::vector<std::string> plan = {"a", "c", "b", "d"};
  EXPECT_EQ(joined.run.plan, plan);
  EXPECT_EQ(joined.run.planned, 4);
  EXPECT_EQ(joined.run.plan_digest, plan_digest(plan));
  EXPECT_EQ(joined.cases.size(), 4u);
  EXPECT_TRUE(joined.torn_line);
  EXPECT_FALSE(joined.run.finished) << "a run is finished when all of its parts are";
  EXPECT_TRUE(merge({part({"a"}), part({"b"})}).run.finished);
}

TEST(Merge, OnePartStaysWhatItIs) {
  const Evidence joined = merge({part({"a", "b"})});
  EXPECT_EQ(joined.run.plan_digest, run_of({"a", "b"}).plan_digest);
  EXPECT_EQ(joined.cases.size(), 2u);
}

TEST(Merge, OrderOfKeysOfTheEnvironmentDoesNotCount) {
  Evidence other = part({"b"});
  other.run.environment = Json{{"host", {{"macos", "26.1"}, {"chip", "M4"}}}, {"torch", "2.13.0"}};
  EXPECT_EQ(merge_text(part({"a"}), other), "");
}

TEST(Merge, RefusesMixturesAndNamesWhatDiffers) {
  const auto refused = [](auto change) {
    Evidence other = part({"b"});
    change(other.run);
    EXPECT_EQ(error_name([&] { merge({part({"a"}), other}); }), "mixed_evidence");
    return merge_text(part({"a"}), other);
  };
  EXPECT_NE(refused([](RunInfo& run) { run.device = "cpu"; }).find("device: 'mps' and 'cpu'"), std::string::npos);
  EXPECT_NE(refused([](RunInfo& run) { run.golden = "a100"; }).find("golden set"), std::string::npos);
  EXPECT_NE(refused([](RunInfo& run) { run.tool_version = "0.2.0"; }).find("0.2.0"), std::string::npos);
  EXPECT_NE(refused([](RunInfo& run) { run.environment["torch"] = "2.14.0"; }).find("environment.torch"), std::string::npos);
  EXPECT_NE(refused([](RunInfo& run) { run.environment.erase("host"); }).find("and nothing"), std::string::npos);
  EXPECT_NE(refused([](RunInfo& run) { run.environment["vm"] = true; }).find("environment.vm: nothing"), std::string::npos);
}

TEST(Merge, RefusesACaseOfTwoPartsRatherThanChooseAResult) {
  EXPECT_EQ(error_name([] { merge({part({"a", "b"}), part({"c", "a"})}); }), "mixed_evidence");
  EXPECT_EQ(error_name([] { merge({part({"a"}), part({"a"})}); }), "mixed_evidence");
}

TEST(Merge, NothingIsNoEvidence) {
  EXPECT_EQ(error_name([] { merge({}); }), "bad_evidence");
}

}  // namespace
}  // namespace driftgate
