#include "case/case.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <gtest/gtest.h>

#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

constexpr const char* kSoftmax = R"spec({"schema": "driftgate.spec/1", "rows": [
  {"family": "softmax", "ops": ["aten::softmax.int", "aten::log_softmax.int"], "bound": {"forward": "general", "backward": "linear"},
   "policies": ["fp32", "fp16", "bf16", "amp_fp16", "amp_bf16"], "directions": ["forward", "backward"], "smoke": true,
   "cases": {"rows64": {"self": {"shape": [32, 64], "fill": "normal"}, "dim": -1},
             "wide": {"self": {"shape": [32, 256], "fill": "normal(scale=30)"}, "dim": -1, "policies": ["fp32"]}}},
  {"family": "copy", "ops": ["aten::clone"], "bound": "exact", "policies": ["bf16"], "directions": ["forward"],
   "cases": {"plain": {"self": {"shape": [3], "fill": "normal"}}}}]})spec";

std::vector<Row> rows_of(const char* text, const std::string& file) { return parse_specs(parse_json(text, file), file); }

Suite softmax_suite() { return Suite(rows_of(kSoftmax, "softmax.json")); }

std::vector<std::string> ids(const Suite& suite, const Filter& filter = Filter::canonical()) {
  std::vector<std::string> list;
  suite.for_each(filter, [&](const Case& c) { list.push_back(c.id()); });
  return list;
}

Filter globs(std::vector<std::string> list) {
  Filter filter = Filter::canonical();
  filter.globs = std::move(list);
  return filter;
}

std::pair<std::string, std::string> failure(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return {error.name(), error.what()};
  }
  return {};
}

TEST(CaseId, PrintsAndParsesBackForEveryPolicyAndDirection) {
  for (int policy = 0; policy < kPolicies; ++policy) {
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      const CaseId id{"_softmax.Int_out", "wide_2", "grad_subset_2", static_cast<Policy>(policy), direction};
      EXPECT_EQ(parse_case_id(to_string(id)), id) << to_string(id);
    }
  }
  EXPECT_EQ(to_string(CaseId{"add", "x", "canonical", Policy::amp_bf16, Direction::backward}), "add/x/amp_bf16/backward/canonical");
}

TEST(CaseId, RefusesWhatIsNoId) {
  for (const char* text : {"", "softmax.int", "softmax.int/wide/fp32/forward", "softmax.int/wide/fp32/forward/canonical/",
                           "softmax.int/wide/fp32/forward/canonical/x", "/wide/fp32/forward/canonical", "softmax.int//fp32/forward/canonical",
                           "softmax.int/wide/fp64/forward/canonical", "softmax.int/wide/fp32/up/canonical", "softmax.int/wide/fp32/forward/",
                           "soft-max/wide/fp32/forward/canonical", "softmax.int/Wide/fp32/forward/canonical",
                           "aten::add/wide/fp32/forward/canonical", "softmax.int/wide/fp32/forward/canonical "}) {
    EXPECT_EQ(failure([&] { parse_case_id(text); }).first, "bad_case_id") << text;
  }
}

TEST(Suite, ListsFileRowOpArgumentsPolicyDirection) {
  const std::vector<std::string> list = ids(softmax_suite());
  ASSERT_EQ(list.size(), 2u * (10 + 2) + 1);
  EXPECT_EQ(list[0], "softmax.int/rows64/fp32/forward/canonical");
  EXPECT_EQ(list[1], "softmax.int/rows64/fp32/backward/canonical");
  EXPECT_EQ(list[2], "softmax.int/rows64/fp16/forward/canonical");
  EXPECT_EQ(list[10], "softmax.int/wide/fp32/forward/canonical");
  EXPECT_EQ(list[12], "log_softmax.int/rows64/fp32/forward/canonical");
  EXPECT_EQ(list[24], "clone/plain/bf16/forward/canonical");
}

TEST(Suite, FindsEveryCaseByItsId) {
  const Suite suite = softmax_suite();
  suite.for_each({}, [&](const Case& c) {
    const Case found = suite.find(c.id());
    EXPECT_EQ(found.id(), c.id());
    EXPECT_EQ(to_string(parse_case_id(c.id())), c.id());
    EXPECT_TRUE(found.row == c.row && found.arguments == c.arguments && found.op == c.op);
  });
}

TEST(Suite, SuggestsTheNearestId) {
  const Suite suite = softmax_suite();
  const std::pair<const char*, const char*> typos[] = {
      {"softmax.int/wide/fp32/forwrd/canonical", "softmax.int/wide/fp32/forward/canonical"},
      {"softmax.int/rows46/fp16/backward/canonical", "softmax.int/rows64/fp16/backward/canonical"},
      {"softmax.int/wide/fp16/forward/canonical", "softmax.int/wide/fp32/forward/canonical"},       // a policy that it lacks
      {"clone/plain/bf16/backward/canonical", "clone/plain/bf16/forward/canonical"},                // a direction that it lacks
      {"clone/plain/bf16/forward/repeated", "clone/plain/bf16/forward/repeat"},
      {"clone/plain", "clone/plain/bf16/forward/canonical"}};
  for (const auto& pair : typos) {
    const auto [name, message] = failure([&] { suite.find(pair.first); });
    EXPECT_EQ(name, "unknown_case");
    EXPECT_NE(message.find("'" + std::string(pair.second) + "'"), std::string::npos) << message;
  }
}

TEST(Suite, SuggestsNothingForTextThatIsNoId) {
  const std::string endless(1 << 20, 'x');
  EXPECT_EQ(failure([&] { softmax_suite().find(endless); }).second.find("did you mean"), std::string::npos);
  EXPECT_EQ(failure([&] { Suite({}).find("clone/plain/bf16/forward/canonical"); }).first, "unknown_case");
}

TEST(Suite, RefusesTheSameOpAndArgumentsTwiceNamingBothFiles) {
  std::vector<Row> rows = rows_of(kSoftmax, "first.json");
  rows.push_back(rows_of(kSoftmax, "second.json").back());
  const auto [name, message] = failure([&] { Suite suite(rows); });
  EXPECT_EQ(name, "duplicate_case");
  EXPECT_NE(message.find("first.json"), std::string::npos) << message;
  EXPECT_NE(message.find("second.json"), std::string::npos) << message;
  EXPECT_NE(message.find("clone/plain"), std::string::npos) << message;
  rows.back().cases[0].name = "plain_2";
  EXPECT_EQ(failure([&] { Suite suite(rows); }).first, "");
}

TEST(Suite, KnowsWhatADeviceDoesNotTakeByKeyDirectionAndTwin) {
  const Suite suite(rows_of(kSoftmax, "softmax.json"), {}, {{"cuda", "softmax.int/*/backward/*", "an error of its own"}});
  const auto limited = [&](const char* device, const char* id) { return suite.limited(suite.find(id), device); };
  EXPECT_TRUE(limited("cuda", "softmax.int/rows64/fp32/backward/canonical"));
  EXPECT_TRUE(limited("cuda", "softmax.int/rows64/amp_bf16/backward/canonical"));
  EXPECT_FALSE(limited("cuda", "softmax.int/rows64/fp32/forward/canonical"));
  EXPECT_FALSE(limited("cuda", "log_softmax.int/rows64/fp32/backward/canonical"));
  EXPECT_FALSE(limited("mps", "softmax.int/rows64/fp32/backward/canonical"));
}

TEST(Suite, RefusesALimitWithoutAReason) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "driftgate_limits";
  std::filesystem::create_directories(folder);
  const auto read = [&](const char* text) {
    write_text(folder / kDeviceLimitsFile, text);
    return read_device_limits(folder);
  };
  EXPECT_EQ(read("# why\ncuda\tadd/*\tcrashes\n").size(), 1U);
  for (const char* text : {"cuda\tadd/*\n", "cuda\tadd/*\t\n", "\tadd/*\tcrashes\n", "cuda\t\tcrashes\n"}) {
    const auto [name, message] = failure([&] { read(text); });
    EXPECT_EQ(name, "bad_limit") << text;
    EXPECT_NE(message.find("device_limits.tsv:1"), std::string::npos) << message;
  }
  remove_tree(folder);
}

TEST(Suite, SurvivesAMove) {
  Suite suite = softmax_suite();
  const std::vector<std::string> before = ids(suite);
  const Suite moved = std::move(suite);
  EXPECT_EQ(ids(moved), before);
  EXPECT_EQ(moved.find(before[3]).row, &moved.rows()[0]);
}

TEST(Case, KnowsItsKeyItsBoundAndItsTier) {
  const Suite suite = softmax_suite();
  const Case backward = suite.find("softmax.int/rows64/amp_fp16/backward/canonical");
  EXPECT_EQ(backward.op_name(), "softmax.int");
  EXPECT_EQ(backward.input_key(), "softmax.int/rows64");
  EXPECT_EQ(backward.bound(), Bound::linear);
  EXPECT_EQ(backward.tier, SuiteTier::smoke);
  EXPECT_EQ(suite.find("softmax.int/rows64/fp32/forward/canonical").bound(), Bound::general);
  EXPECT_EQ(suite.find("softmax.int/wide/fp32/forward/canonical").tier, SuiteTier::standard);
  EXPECT_EQ(suite.find("clone/plain/bf16/forward/canonical").tier, SuiteTier::standard);
}

TEST(Glob, MatchesStarsAndQuestionMarks) {
  const std::pair<const char*, const char*> matching[] = {
      {"", ""}, {"*", ""}, {"*", "abc"}, {"a*c", "ac"}, {"a*c", "abbc"}, {"a?c", "abc"}, {"*.int", "softmax.int"},
      {"*a*b", "xaxaxb"}, {"**", "x"}, {"a*", "a"}, {"*abc", "ababc"}};
  for (const auto& [pattern, text] : matching) EXPECT_TRUE(glob_match(pattern, text)) << pattern << " " << text;
  const std::pair<const char*, const char*> different[] = {
      {"", "a"}, {"a", ""}, {"?", ""}, {"a?c", "ac"}, {"a*c", "abcd"}, {"softmax", "softmax.int"}, {"*a*b", "xaxax"}, {"A", "a"},
      {"a.c", "abc"}};
  for (const auto& [pattern, text] : different) EXPECT_FALSE(glob_match(pattern, text)) << pattern << " " << text;
}

TEST(Glob, IsQuickOnAHostilePattern) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_match(pattern + "b", std::string(5000, 'a')));
}

TEST(Filter, MatchesTheOpWithoutASlashAndTheIdWithOne) {
  const Suite suite = softmax_suite();
  EXPECT_EQ(ids(suite, globs({"softmax.int"})).size(), 12u);
  EXPECT_EQ(ids(suite, globs({"*softmax*"})).size(), 24u);
  EXPECT_EQ(ids(suite, globs({"*/wide/*"})).size(), 4u);
  EXPECT_EQ(ids(suite, globs({"clone", "softmax.int/wide/fp32/forward/canonical"})).size(), 2u);
  EXPECT_EQ(ids(suite, globs({"wide"})).size(), 0u);
  EXPECT_EQ(ids(suite, globs({"softmax.int/wide"})).size(), 0u);
}

TEST(Filter, SelectsByFamilyPolicyAndTier) {
  const Suite suite = softmax_suite();
  Filter filter = Filter::canonical();
  filter.families = {"copy"};
  EXPECT_EQ(ids(suite, filter), std::vector<std::string>{"clone/plain/bf16/forward/canonical"});
  filter.policies = {Policy::fp32};
  EXPECT_TRUE(ids(suite, filter).empty());
  filter.families.clear();
  EXPECT_EQ(ids(suite, filter).size(), 8u);
  filter.tier = SuiteTier::smoke;
  EXPECT_EQ(ids(suite, filter).size(), 4u);
  EXPECT_EQ(suite.select(filter).size(), 4u);
}

TEST(Filter, ShardsPartitionWhatTheRestSelects) {
  const Suite suite = softmax_suite();
  for (Filter filter : {Filter::canonical(), globs({"*softmax*"})}) {
    std::vector<std::string> whole = ids(suite, filter), joined;
    filter.shards = 5;
    for (filter.shard = 0; filter.shard < filter.shards; ++filter.shard) {
      const std::vector<std::string> part = ids(suite, filter);
      EXPECT_LE(part.size(), (whole.size() + 4) / 5);
      joined.insert(joined.end(), part.begin(), part.end());
    }
    std::sort(whole.begin(), whole.end());
    std::sort(joined.begin(), joined.end());
    EXPECT_EQ(joined, whole);
  }
}

TEST(Filter, RefusesAShardThatDoesNotExist) {
  const Suite suite = softmax_suite();
  for (const auto& [shard, shards] : {std::pair(-1, 2), std::pair(2, 2), std::pair(0, 0), std::pair(0, -1)}) {
    Filter filter = Filter::canonical();
    filter.shard = shard;
    filter.shards = shards;
    EXPECT_EQ(failure([&] { ids(suite, filter); }).first, "bad_shard") << shard << "/" << shards;
  }
}

}  // namespace
}  // namespace driftgate
