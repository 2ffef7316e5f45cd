// docs/schema/{evidence,tolerances}.schema.json describe what is written and read.
#define VALIJSON_USE_EXCEPTIONS 1
#include <filesystem>
#include <gtest/gtest.h>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "evidence_records.hpp"
#include "judge/tolerance.hpp"

namespace driftgate {
namespace {

using valijson::adapters::NlohmannJsonAdapter;
const std::filesystem::path kSource = DRIFTGATE_SOURCE_DIR;

class Checker {
 public:
  explicit Checker(const std::string& file) {
    const auto text = nlohmann::json::parse(read_text(kSource / "docs/schema" / file));
    valijson::SchemaParser(valijson::SchemaParser::kDraft7).populateSchema(NlohmannJsonAdapter(text), schema_);
  }
  bool accepts(const std::string& text) {
    const auto document = nlohmann::json::parse(text);
    return valijson::Validator().validate(schema_, NlohmannJsonAdapter(document), nullptr);
  }

 private:
  valijson::Schema schema_;
};

TEST(EvidenceSchema, AcceptsWhatIsWritten) {
  Checker schema("evidence.schema.json");
  EXPECT_TRUE(schema.accepts(to_line(full_record("a/x/fp32/forward/canonical"))));
  EXPECT_TRUE(schema.accepts(to_line(short_record("a/x/fp32/forward/canonical"))));
  EXPECT_TRUE(schema.accepts(to_json(run_of({"a/x/fp32/forward/canonical"})).dump()));
}

TEST(EvidenceSchema, RefusesWhatTheReaderRefuses) {
  Checker schema("evidence.schema.json");
  const std::string good = to_line(full_record("a/x/fp32/forward/canonical"));
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, Json>>{
           {"/colour", 1}, {"/id", 7}, {"/stage", "finished"}, {"/us", {1, 2, 3}}, {"/warnings", "slow"}, {"/outputs/0/colour", 1},
           {"/outputs/0/bound", "vague"}, {"/outputs/0/n", -1}, {"/outputs/0/req/g", -1}, {"/outputs/0/req/g", "-inf"},
           {"/outputs/0/req/x", 1}, {"/outputs/0/worst", {1, 2}}, {"/outputs/0/golden/limit", 1}, {"/outputs/0/bitwise", 1}}) {
    Json bad = parse_json(good, "good");
    bad[Json::json_pointer(pointer)] = value;
    EXPECT_FALSE(schema.accepts(bad.dump())) << pointer;
    EXPECT_ANY_THROW(parse_line(bad.dump(), "line")) << pointer;
  }
}

TEST(TolerancesSchema, AcceptsEveryTableOfTheProject) {
  Checker schema("tolerances.schema.json");
  for (const auto& entry : std::filesystem::directory_iterator(kSource / "tolerances")) {
    if (!holds_rows(entry.path())) continue;
    EXPECT_TRUE(schema.accepts(read_text(entry.path()))) << entry.path();
  }
  EXPECT_FALSE(schema.accepts(read_text(kSource / "tolerances/decision.json")));
}

TEST(TolerancesSchema, RefusesWhatTheReaderRefuses) {
  Checker schema("tolerances.schema.json");
  const Json good = parse_json(R"({"row": "a", "match": {"families": ["softmax"], "policies": ["fp32"]}, "limit": 64, "why": "a sum",
    "measured": {"h200": 7.4}, "witness": "softmax.int/wide/fp32/forward/canonical"})", "row");
  const auto accepts = [&](const Json& row) { return schema.accepts(Json{{"schema", "driftgate.tolerances/1"}, {"rows", {row}}}.dump()); };
  EXPECT_TRUE(accepts(good));
  for (const auto& [pointer, value] : std::vector<std::pair<std::string, Json>>{
           {"/limit", -1}, {"/limit", "inf"}, {"/why", " "}, {"/row", ""}, {"/measured", Json::object()}, {"/measured/h200", -1},
           {"/tier", "lax"}, {"/kill_rate", 1.5}, {"/match/family", "softmax"}, {"/match/policies", {"fp8"}}, {"/colour", 1}}) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    EXPECT_FALSE(accepts(bad)) << pointer;
  }
  for (const char* key : {"row", "match", "limit", "why", "measured", "witness"}) {
    Json bad = good;
    bad.erase(key);
    EXPECT_FALSE(accepts(bad)) << key;
  }
}

}  // namespace
}  // namespace driftgate
