#include "case/spec.hpp"

#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>

#include "error.hpp"
#include "spec_documents.hpp"

namespace driftgate {
namespace {

const std::string kFile = "tests/cases/ops/softmax.json";

// The error's name and message; empty when the document is accepted.
std::pair<std::string, std::string> refusal(const Json& document) {
  try {
    parse_specs(document, kFile);
  } catch (const Error& error) {
    return {error.name(), error.what()};
  }
  return {};
}

// The sound spec with other values at some pointers.
Json sound_with(std::initializer_list<std::pair<const char*, Json>> changes) {
  Json document = parse_json(kSoundSpec, "sound");
  for (const auto& [pointer, value] : changes) document[Json::json_pointer(pointer)] = value;
  return document;
}

std::vector<Row> sound_rows() { return parse_specs(parse_json(kSoundSpec, "sound"), kFile); }

const Argument* argument(const ArgumentSet& set, const std::string& name) {
  for (const auto& [key, value] : set.arguments) {
    if (key == name) return &value;
  }
  return nullptr;
}

TEST(Spec, ReadsEveryKeyOfARow) {
  const std::vector<Row> rows = sound_rows();
  ASSERT_EQ(rows.size(), 4u);
  const Row& row = rows[0];
  EXPECT_EQ(row.family, "softmax");
  EXPECT_EQ(row.file, kFile);
  EXPECT_EQ(row.ops, (std::vector<std::string>{"aten::softmax.int", "aten::_log_softmax"}));
  EXPECT_EQ(row.bound(Direction::forward), Bound::general);
  EXPECT_EQ(row.bound(Direction::backward), Bound::linear);
  EXPECT_EQ(row.directions, (std::vector{Direction::backward, Direction::forward}));
  EXPECT_EQ(row.grad, std::vector<std::string>{"self"});
  EXPECT_EQ(row.allow.constant, 10);
  EXPECT_EQ(row.allow.extent_max, 4);
  EXPECT_EQ(row.allow.why, "a polynomial");
  EXPECT_EQ(row.allow_backward.abs_g, 0.5);
  EXPECT_TRUE(row.signed_zero && row.gather_indices && row.smoke && !row.repeat_bitwise);
  EXPECT_EQ(row.why, "the exponentials");
}

TEST(Spec, LeavesTheDefaultsWhereARowIsSilent) {
  const Row row = sound_rows()[1];
  EXPECT_EQ(row.bound(Direction::forward), Bound::exact);
  EXPECT_EQ(row.bound(Direction::backward), Bound::exact);
  EXPECT_FALSE(row.grad.has_value() || row.allow.any() || row.allow_backward.any());
  EXPECT_FALSE(row.signed_zero || row.gather_indices || row.smoke);
  EXPECT_TRUE(row.repeat_bitwise);
  EXPECT_EQ(row.cases.at(0).square_weight, 1);
  EXPECT_EQ(row.cases.at(0).terms.of("result"), std::nullopt);
}

TEST(Spec, TellsTensorsListsAndScalarsApart) {
  const ArgumentSet set = sound_rows()[0].cases.at(1);
  const auto& self = std::get<TensorArgument>(*argument(set, "self"));
  EXPECT_EQ(self.shape, (Shape{7}));
  EXPECT_FALSE(self.dtype.has_value());
  ASSERT_EQ(self.fill.values.size(), 5u);
  EXPECT_TRUE(std::signbit(self.fill.values[1]));
  EXPECT_TRUE(std::isnan(self.fill.values[2]));
  const auto& list = std::get<std::vector<TensorArgument>>(*argument(set, "LU"));
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].shape, Shape{});
  EXPECT_EQ(list[1].shape, (Shape{2, 0}));
  EXPECT_EQ(std::get<Json>(*argument(set, "p")), "inf");
  EXPECT_EQ(std::get<Json>(*argument(set, "size")), (Json{2, 3}));
  EXPECT_EQ(std::get<Json>(*argument(set, "empty")), Json::array());
  EXPECT_TRUE(std::get<Json>(*argument(set, "none")).is_null());
  EXPECT_EQ(argument(set, "terms"), nullptr);
  EXPECT_EQ(set.arguments.front().first, "self");
  EXPECT_EQ(set.arguments.back().first, "flag");
}

TEST(Spec, KeepsFillDtypeAndReasonOfATensor) {
  const ArgumentSet set = sound_rows()[0].cases.at(0);
  const auto& self = std::get<TensorArgument>(*argument(set, "self"));
  EXPECT_EQ(self.fill.domain, "normal");
  EXPECT_EQ(self.fill.parameters.at("scale"), 30);
  EXPECT_EQ(self.dtype, DType::i64);
  EXPECT_EQ(set.why, "shift");
}

TEST(Spec, ACaseOverridesItsRow) {
  const std::vector<ArgumentSet> cases = sound_rows()[0].cases;
  EXPECT_EQ(cases.at(0).policies, (std::vector{Policy::fp32, Policy::amp_bf16}));
  EXPECT_EQ(cases.at(0).terms.of("anything"), 9);
  EXPECT_EQ(cases.at(0).square_weight, 1.0 / 9);
  EXPECT_EQ(cases.at(1).policies, std::vector{Policy::fp16});
  EXPECT_EQ(cases.at(1).terms.of("result"), 3);
  EXPECT_EQ(cases.at(1).terms.of("self"), 1.5);
  EXPECT_EQ(cases.at(1).terms.of("other"), std::nullopt);
  EXPECT_EQ(cases.at(1).square_weight, 0.25);
}

TEST(Spec, TheReciprocalWeightFollowsTheTermsOfTheCase) {
  const Json document = sound_with({{"/rows/0/cases/wide/terms", 4}});
  EXPECT_EQ(parse_specs(document, kFile)[0].cases.at(0).square_weight, 0.25);
}

TEST(Spec, TheReciprocalWeightNeedsNumericTerms) {
  for (const Json& terms : {Json("ones"), Json{{"result", 9}}}) {
    const auto [name, message] = refusal(sound_with({{"/rows/0/terms", terms}}));
    EXPECT_EQ(name, "bad_value");
    EXPECT_EQ(message.find(kFile + ": rows[0].cases.wide: "), 0u) << message;
  }
}

TEST(Spec, TheLargestShapeIsStillAShape) {
  const Json document = sound_with({{"/rows/0/cases/wide/self/shape", Json{65536, 32768}}});
  EXPECT_EQ(refusal(document).first, "");
}

TEST(Spec, GradMayNameATensorOfOneCaseOnly) {
  EXPECT_EQ(refusal(sound_with({{"/rows/0/grad", Json{"self", "LU"}}})).first, "");
}

TEST(Spec, RefusesEveryHostileDocumentByFileAndKey) {
  ASSERT_EQ(refusal(parse_json(kSoundSpec, "sound")).first, "");
  for (const Hostile& hostile : kHostile) {
    const auto [name, message] = refusal(hostile.document());
    EXPECT_EQ(name, hostile.error) << hostile.pointer << " = " << hostile.text << ": " << message;
    EXPECT_EQ(message.find(kFile + ": " + hostile.key_path() + ": "), 0u) << hostile.pointer << ": " << message;
  }
}

TEST(Spec, RefusesADocumentThatIsNoObject) {
  const auto [name, message] = refusal(Json::array());
  EXPECT_EQ(name, "wrong_type");
  EXPECT_EQ(message.find(kFile + ": "), 0u) << message;
}

TEST(Spec, NamesParseBack) {
  for (const Policy policy : {Policy::fp32, Policy::fp16, Policy::bf16, Policy::amp_fp16, Policy::amp_bf16}) {
    EXPECT_EQ(parse_policy(name(policy), ""), policy);
  }
  for (const Direction direction : {Direction::forward, Direction::backward}) {
    EXPECT_EQ(parse_direction(name(direction), ""), direction);
  }
  for (const Bound bound : {Bound::exact, Bound::pointwise, Bound::linear, Bound::general}) {
    EXPECT_EQ(parse_bound(name(bound), ""), bound);
  }
  for (const Bound bound : {Bound::statistical, Bound::ratio, Bound::ensemble, Bound::levels}) EXPECT_EQ(parse_bound(name(bound), ""), bound);
  for (const SuiteLevel level : {SuiteLevel::op, SuiteLevel::model, SuiteLevel::training, SuiteLevel::preprocess})
    EXPECT_EQ(parse_suite_level(name(level), ""), level);
  EXPECT_THROW(parse_suite_level("models", ""), Error);
  EXPECT_THROW(parse_policy("FP32", ""), Error);
  EXPECT_THROW(parse_direction("", ""), Error);
  EXPECT_THROW(parse_bound("exact ", ""), Error);
}

TEST(Spec, AutocastKeepsItsInputsInFp32) {
  EXPECT_EQ(dtype_of(Policy::fp32), DType::f32);
  EXPECT_EQ(dtype_of(Policy::fp16), DType::f16);
  EXPECT_EQ(dtype_of(Policy::bf16), DType::bf16);
  EXPECT_EQ(dtype_of(Policy::amp_fp16), DType::f32);
  EXPECT_EQ(dtype_of(Policy::amp_bf16), DType::f32);
}

class SpecFiles : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(directory_ / "ops"); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::string failure() const {
    try {
      read_specs(directory_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  const std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) /
      ("driftgate_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
};

TEST_F(SpecFiles, AreReadInTheOrderOfTheirNames) {
  for (const char* file : {"ops/b.json", "a.json", "ops/a.json"}) write_text(directory_ / file, kSoundSpec);
  write_text(directory_ / "notes.txt", "not a spec");
  std::vector<std::string> files;
  for (const Row& row : read_specs(directory_)) {
    if (row.family == "softmax") files.push_back(row.file);
  }
  const std::string root = directory_.generic_string();
  EXPECT_EQ(files, (std::vector{root + "/a.json", root + "/ops/a.json", root + "/ops/b.json"}));
}

TEST_F(SpecFiles, AreAnErrorWhenThereAreNone) {
  EXPECT_NE(failure().find("[no_specs]"), std::string::npos);
  std::filesystem::remove_all(directory_);
  EXPECT_NE(failure().find("[unreadable]"), std::string::npos);
}

TEST_F(SpecFiles, AreNamedInTheErrorOfABrokenOne) {
  write_text(directory_ / "ops/a.json", kSoundSpec);
  write_text(directory_ / "ops/b.json", R"({"schema": "driftgate.spec/1", "schema": "driftgate.spec/1"})");
  EXPECT_NE(failure().find((directory_ / "ops/b.json").string()), std::string::npos) << failure();
  EXPECT_NE(failure().find("[duplicate_key]"), std::string::npos) << failure();
}

}  // namespace
}  // namespace driftgate
