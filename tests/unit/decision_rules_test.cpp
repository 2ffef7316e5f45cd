// tolerances/decision.json: what its reader and its schema accept.
#include <gtest/gtest.h>

#include <algorithm>

#include "error_name.hpp"
#include "judge/decision.hpp"
#include "schema_complaint.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kSource = DRIFTGATE_SOURCE_DIR;
const std::filesystem::path kSchema = kSource / "docs/schema/decision.schema.json";

constexpr const char* kSound = R"({"schema": "driftgate.decision/1",
  "legs": [{"leg": "gate", "why": "w"}, {"leg": "coverage", "why": "w", "least_families": 0.5}],
  "levels": [{"level": "training", "legs": ["gate", "coverage"], "least_sharp": 0.7, "why": "w"},
             {"level": "inference", "legs": ["gate"], "why": "w"}]})";

std::string name_of_error(const Json& document) {
  const TemporaryFolder folder;
  write_text(folder / "decision.json", document.dump());
  return error_name([&] { DecisionRules::load(folder / "decision.json"); });
}

TEST(DecisionRules, TheShippedOnesAgreeWithTheSchemaAndNestTheirLevels) {
  EXPECT_EQ(complaint(kSchema, read_text(kSource / "tolerances/decision.json")), "");
  const DecisionRules rules = DecisionRules::load(kSource / "tolerances/decision.json");
  ASSERT_EQ(rules.levels.size(), 3U);
  EXPECT_EQ(rules.levels[0].level, Level::training);
  EXPECT_GE(rules.levels[0].least_sharp, 0.5);
  for (const std::string& leg : rules.levels[1].legs)
    EXPECT_EQ(std::count(rules.levels[0].legs.begin(), rules.levels[0].legs.end(), leg), 1) << "training needs what inference needs: " << leg;
  for (const LegRule& leg : rules.legs) EXPECT_FALSE(leg.why.empty()) << leg.name;
}

TEST(DecisionRules, ReadsTheSoundDocument) {
  EXPECT_EQ(complaint(kSchema, kSound), "");
  EXPECT_EQ(name_of_error(parse_json(kSound, "sound")), "");
}

TEST(DecisionRules, RefusesWhatIsWrong) {
  struct Wrong {
    const char *pointer, *value, *error;
    bool seen_by_schema;
  };
  for (const Wrong& wrong : std::vector<Wrong>{{"/schema", R"("driftgate.decision/2")", "other_schema", true},
                                               {"/extra", "1", "unknown_key", true},
                                               {"/legs/1/least_families", "1.5", "bad_share", true},
                                               {"/legs/1/least_families", R"("nan")", "bad_share", true},
                                               {"/legs/1/least_passed", "-0.1", "bad_share", true},
                                               {"/legs/1/under_amp", R"("fp64")", "bad_policy", true},
                                               {"/legs/1/leg", R"("gate")", "duplicate_leg", false},
                                               {"/legs/0/why", "1", "wrong_type", true},
                                               {"/levels/0/level", R"("unusable")", "bad_level", true},
                                               {"/levels/0/level", R"("perfect")", "bad_level", true},
                                               {"/levels/0/level", R"("inference")", "level_order", false},
                                               {"/levels/0/legs", R"(["gate", "models"])", "unknown_leg", false},
                                               {"/levels/0/legs", R"(["coverage"])", "no_gate", true},
                                               {"/demands", R"([{"demand": "speed", "margin": 0, "cap": "inference", "why": "w"}])", "unknown_demand", true},
                                               {"/demands", R"([{"demand": "bitwise_loss", "margin": -1, "cap": "inference", "why": "w"}])", "bad_share", true},
                                               {"/demands", R"([{"demand": "bitwise_loss", "margin": 0, "cap": "training", "why": "w"}])", "bad_level", true},
                                               {"/demands", R"([{"demand": "bitwise_loss", "margin": 0, "cap": "inference"}])", "missing_key", true},
                                               {"/levels", "[]", "no_levels", true}}) {
    Json document = parse_json(kSound, "sound");
    document[Json::json_pointer(wrong.pointer)] = Json::parse(wrong.value);
    EXPECT_EQ(name_of_error(document), wrong.error) << wrong.pointer << " = " << wrong.value;
    EXPECT_EQ(complaint(kSchema, document.dump()) != "", wrong.seen_by_schema) << wrong.pointer << " = " << wrong.value;
  }
}

TEST(Level, NamesParseBack) {
  for (const Level level : {Level::inconclusive, Level::unusable, Level::preprocessing, Level::inference, Level::training})
    EXPECT_EQ(parse_level(name(level), "test"), level);
  EXPECT_EQ(error_name([] { parse_level("Training", "test"); }), "bad_level");
}

}  // namespace
}  // namespace driftgate
