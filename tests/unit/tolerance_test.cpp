// The tolerance table: strict reading, and exactly one row a case.
#include <gtest/gtest.h>

#include "error_name.hpp"
#include "judge_fixture.hpp"

namespace driftgate {
namespace {

const std::string kRow = R"({"row": "softmax.fp16", "match": {"families": ["softmax"], "ops": ["soft*"], "not_ops": ["*.out"],
  "arguments": ["w?de"], "policies": ["fp16"], "directions": ["forward"], "bounds": ["general"], "cases": ["softmax.*/wide"], "not_cases": ["softmax.int/narrow"]},
  "limit": 64, "tier": "loose", "loose_limit": 8, "why": "exp and a sum", "measured": {"cpu_avx2": 5.1, "h200": 7.4},
  "witness": "softmax.int/wide/fp32/forward/canonical", "kill_rate": 0.99, "blunt": true})";

std::string table_of(const std::string& rows) { return R"({"schema": "driftgate.tolerances/1", "rows": [)" + rows + "]}"; }

// kRow with one value replaced, added, or (null) removed.
std::string changed(const std::string& key, const Json& value) {
  Json row = parse_json(kRow, "row");
  if (value.is_null()) {
    row.erase(key);
  } else {
    row[key] = value;
  }
  return table_of(row.dump());
}

ToleranceTable load(const std::string& text) {
  TemporaryFolder tmp;
  write_text(tmp / "table.json", text);
  return ToleranceTable::load(tmp.path());
}

std::string load_error(const std::string& text) {
  return error_name([&] { load(text); });
}

TEST(Tolerance, ReadsEveryKey) {
  const ToleranceTable table = load(table_of(kRow));
  ASSERT_EQ(table.rows().size(), 1u);
  const ToleranceRow& row = table.rows()[0];
  EXPECT_EQ(row.name, "softmax.fp16");
  EXPECT_EQ(row.limit, 64);
  EXPECT_EQ(row.tier, Tier::loose);
  EXPECT_EQ(row.loose_limit, 8);
  EXPECT_EQ(row.why, "exp and a sum");
  EXPECT_EQ(row.measured.at("h200"), 7.4);
  EXPECT_EQ(row.witness, "softmax.int/wide/fp32/forward/canonical");
  EXPECT_EQ(row.kill_rate, 0.99);
  EXPECT_TRUE(row.blunt);
  EXPECT_EQ(row.match.policies, std::vector{Policy::fp16});
  EXPECT_EQ(row.match.cases, std::vector<std::string>{"softmax.*/wide"});
  EXPECT_EQ(row.match.not_cases, std::vector<std::string>{"softmax.int/narrow"});
  EXPECT_NE(row.file.find("table.json"), std::string::npos);
  EXPECT_EQ(&table.row_for(small_suite().find(id_of("softmax", "fp16"))), &row);
}

TEST(Tolerance, KeysThatMayBeLeftOutHaveDefaults) {
  Json row = parse_json(kRow, "row");
  for (const char* key : {"tier", "loose_limit", "kill_rate", "blunt"}) row.erase(key);
  row["match"] = Json::object();
  const ToleranceTable table = load(table_of(row.dump()));
  EXPECT_EQ(table.rows()[0].tier, Tier::strict);
  EXPECT_EQ(table.rows()[0].loose_limit, 16);
  EXPECT_EQ(table.rows()[0].kill_rate, -1);
  EXPECT_FALSE(table.rows()[0].blunt);
  EXPECT_TRUE(table.rows()[0].match.cases.empty());
}

TEST(Tolerance, RefusesRowsThatProveNothing) {
  EXPECT_EQ(load_error(changed("limit", 0)), "");
  for (const Json& limit : {Json(-1), Json("nan"), Json("inf"), Json("-inf")}) EXPECT_EQ(load_error(changed("limit", limit)), "bad_row");
  EXPECT_EQ(load_error(changed("limit", "64")), "wrong_type");
  EXPECT_EQ(load_error(changed("loose_limit", "nan")), "bad_row");
  EXPECT_EQ(load_error(changed("why", "")), "bad_row");
  EXPECT_EQ(load_error(changed("why", "  ")), "bad_row");
  EXPECT_EQ(load_error(changed("row", "")), "bad_row");
  EXPECT_EQ(load_error(changed("measured", Json::object())), "bad_row");
  EXPECT_EQ(load_error(changed("measured", {{"h200", "nan"}})), "bad_row");
  EXPECT_EQ(load_error(changed("measured", {{"h200", -1}})), "bad_row");
  EXPECT_EQ(load_error(changed("witness", "softmax")), "bad_row");
  EXPECT_EQ(load_error(changed("tier", "lax")), "bad_row");
  EXPECT_EQ(load_error(changed("kill_rate", 1.5)), "bad_row");
  EXPECT_EQ(load_error(changed("kill_rate", "nan")), "bad_row");
  for (const char* key : {"row", "match", "limit", "why", "measured", "witness"}) EXPECT_EQ(load_error(changed(key, Json())), "missing_key") << key;
  EXPECT_EQ(load_error(changed("colour", "red")), "unknown_key");
  EXPECT_EQ(load_error(changed("match", {{"family", "softmax"}})), "unknown_key");
  EXPECT_EQ(load_error(changed("match", {{"policies", {"fp8"}}})), "bad_policy");
  EXPECT_EQ(load_error(R"({"schema": "driftgate.tolerances/2", "rows": []})"), "other_schema");
}

TEST(Tolerance, ErrorsNameFileRowAndKey) {
  Json second = parse_json(kRow, "row");
  second["row"] = "other";
  second["limit"] = -1;
  const std::string text = error_text([&] { load(table_of(kRow + "," + second.dump())); });
  EXPECT_NE(text.find("table.json: rows[1].limit: "), std::string::npos) << text;
}

TEST(Tolerance, ReadsEveryFileButTheDecisionRules) {
  TemporaryFolder tmp;
  Json other = parse_json(kRow, "row");
  other["row"] = "other";
  write_text(tmp / "a.json", table_of(kRow));
  write_text(tmp / "b.json", table_of(other.dump()));
  write_text(tmp / "decision.json", "{}");
  write_text(tmp / "README.md", "no table");
  EXPECT_EQ(ToleranceTable::load(tmp.path()).rows().size(), 2u);
  write_text(tmp / "c.json", "{}");
  EXPECT_EQ(error_name([&] { ToleranceTable::load(tmp.path()); }), "missing_key");
  EXPECT_EQ(error_name([&] { ToleranceTable::load(tmp / "nowhere"); }), "unreadable");
}

TEST(Tolerance, RowNamesAreUniqueOverAllFiles) {
  EXPECT_EQ(error_name([] { ToleranceTable({row_of("a", 1), row_of("a", 2)}); }), "duplicate_row");
  EXPECT_EQ(error_name([] { ToleranceTable({row_of("a", 1), row_of("b", 1)}); }), "");
}

TEST(Tolerance, ExactlyOneRowJudgesACase) {
  const Case c = small_suite().find(id_of("softmax", "fp32"));
  ToleranceRow softmax = row_of("softmax", 1), copy = row_of("copy", 0), all = row_of("all", 2);
  softmax.match.families = {"softmax"};
  copy.match.families = {"copy"};
  EXPECT_EQ(ToleranceTable({copy, softmax}).row_for(c).name, "softmax");
  EXPECT_EQ(error_name([&] { ToleranceTable({copy}).row_for(c); }), "no_row");
  const std::string text = error_text([&] { ToleranceTable({all, copy, softmax}).row_for(c); });
  EXPECT_NE(text.find("two_rows"), std::string::npos);
  EXPECT_NE(text.find("'all'"), std::string::npos);
  EXPECT_NE(text.find("'softmax'"), std::string::npos);
}

TEST(Tolerance, EveryKeyOfAMatchNarrowsIt) {
  const Case c = small_suite().find(id_of("softmax", "fp32"));
  const auto matches = [&](auto narrow) {
    ToleranceRow row;
    narrow(row.match);
    return row.matches(c);
  };
  EXPECT_TRUE(matches([](RowMatch&) {}));
  EXPECT_TRUE(matches([](RowMatch& m) { m.families = {"copy", "softmax"}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.families = {"soft*"}; })) << "families are no globs";
  EXPECT_TRUE(matches([](RowMatch& m) { m.ops = {"soft*"}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.ops = {"softmax"}; })) << "the op is softmax.int";
  EXPECT_FALSE(matches([](RowMatch& m) { m.not_ops = {"soft*"}; }));
  EXPECT_TRUE(matches([](RowMatch& m) { m.not_ops = {"copy*"}; }));
  EXPECT_TRUE(matches([](RowMatch& m) { m.arguments = {"w*"}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.arguments = {"narrow"}; }));
  EXPECT_TRUE(matches([](RowMatch& m) { m.policies = {Policy::bf16, Policy::fp32}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.policies = {Policy::bf16}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.directions = {Direction::backward}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.bounds = {Bound::exact}; }));
  EXPECT_TRUE(matches([](RowMatch& m) { m.cases = {"softmax.int/wide"}; }));
  EXPECT_FALSE(matches([](RowMatch& m) { m.cases = {"wide", "softmax.int"}; })) << "the whole of op/argument set";
  EXPECT_FALSE(matches([](RowMatch& m) { m.not_cases = {"*/wide"}; }));
  EXPECT_TRUE(matches([](RowMatch& m) { m.not_cases = {"*/narrow"}; }));
}

TEST(Tolerance, LooseLimitIsInUnitsOfTheHalfFormat) {
  const ToleranceRow row = row_of("row", 4);
  EXPECT_EQ(row.limit_at(Tier::strict, Policy::fp16), 4);
  EXPECT_EQ(row.limit_at(Tier::loose, Policy::fp16), 16 * 8192.0);
  EXPECT_EQ(row.limit_at(Tier::loose, Policy::amp_fp16), 16 * 8192.0);
  EXPECT_EQ(row.limit_at(Tier::loose, Policy::bf16), 16 * 65536.0);
  EXPECT_EQ(row.limit_at(Tier::loose, Policy::amp_bf16), 16 * 65536.0);
  EXPECT_EQ(row.limit_at(Tier::loose, Policy::fp32), 4) << "fp32 has no second tier";
}

}  // namespace
}  // namespace driftgate
