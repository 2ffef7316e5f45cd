#include "sim/fault.hpp"

#include <gtest/gtest.h>

#include "error_name.hpp"
#include "schema_complaint.hpp"

namespace driftgate {
namespace {

Json with(const std::string& when, const std::string& effect = R"({"kind": "zero_output"})") {
  return parse_json(R"({"faults": [{"name": "f", "op": "aten::mm*", "when": )" + when + R"(, "effect": )" + effect + "}]}", "test");
}

std::string refusal(const Json& document) {
  return error_name([&] { parse_faults(document, "test"); });
}

When when_of(const std::string& when) { return parse_faults(with(when), "test").at(0).when; }
Effect effect_of(const std::string& effect) { return parse_faults(with("{}", effect), "test").at(0).effect; }

TEST(Fault, ReadsEveryConditionOnTheOperand) {
  const When when = when_of(R"({"arg": 1, "dtype": ["f16", "bfloat16"], "layout": "stepped", "ndim_at_least": 2, "min_numel": 8, "relation": "square",
                                "size_at_least": {"dim": -1, "size": 65}, "not_divisible": [{"dim": 0, "size": 4}], "value": {"any_above": 3.5}})");
  EXPECT_EQ(when.arg, 1);
  EXPECT_EQ(when.dtypes, (std::vector{DType::f16, DType::bf16}));
  EXPECT_EQ(when.layout, OperandLayout::stepped);
  EXPECT_EQ(when.relation, Relation::square);
  ASSERT_EQ(when.sizes.size(), 2u);
  EXPECT_EQ(when.sizes[0].dim, -1);
  EXPECT_EQ(when.sizes[1].kind, SizeRule::Kind::not_divisible);
  EXPECT_EQ(when.value, ValueRule::any_above);
  EXPECT_EQ(when.above, 3.5);
  EXPECT_FALSE(when.stateful());
}

TEST(Fault, ReadsEveryConditionOnTheCall) {
  const When when = when_of(R"({"mixed_dtype": true, "arg_device": "cpu", "inplace": false, "grad_mode": "off", "inside": "*Backward*",
                                "attribute": {"name": "dim", "equals": [0, 1]}, "call": {"every": 2}, "after_op": "aten::add*", "new_shape": true})");
  EXPECT_EQ(when.mixed_dtype, true);
  EXPECT_TRUE(when.on_cpu);
  EXPECT_EQ(when.inplace, false);
  EXPECT_EQ(when.grad_mode, false);
  EXPECT_EQ(when.attribute, "dim");
  EXPECT_EQ(when.every, 2);
  EXPECT_TRUE(when.stateful());
}

TEST(Fault, ReadsTheParameterOfAnEffect) {
  EXPECT_EQ(effect_of(R"({"kind": "scale", "by": 2, "output": 1})").by, 2);
  EXPECT_EQ(effect_of(R"({"kind": "scale", "by": 2, "output": 1})").output, 1);
  EXPECT_EQ(effect_of(R"({"kind": "round_inputs", "bits": 11})").amount, 11);
  EXPECT_TRUE(effect_of(R"({"kind": "wrong_element", "from_index": 7})").from_index);
  EXPECT_FALSE(effect_of(R"({"kind": "wrong_element", "index": 7})").from_index);
  EXPECT_EQ(effect_of(R"({"kind": "ignore_argument", "name": "alpha"})").argument, "alpha");
}

TEST(Fault, EveryKindIsReadByItsName) {
  for (int k = 0; k <= static_cast<int>(EffectKind::leak); ++k) {
    Json effect = {{"kind", name(static_cast<EffectKind>(k))}};
    const std::string kind = effect["kind"];
    if (kind == "scale") effect["by"] = 2;
    if (kind == "add_ulps") effect["ulps"] = 2;
    if (kind == "round_inputs" || kind == "round_output" || kind == "int_wrap") effect["bits"] = 8;
    if (kind == "accumulate_in") effect["dtype"] = "f16";
    if (kind == "wrong_element") effect["index"] = 0;
    if (kind == "ignore_argument") effect["name"] = "alpha";
    if (kind == "leak") effect["bytes"] = 64;
    EXPECT_EQ(static_cast<int>(effect_of(effect.dump()).kind), k) << kind;
  }
}

TEST(Fault, UnknownKeysAreRefusedAtEveryLevel) {
  EXPECT_EQ(refusal(parse_json(R"({"faults": [], "more": 1})", "test")), "unknown_key");
  EXPECT_EQ(refusal(parse_json(R"({"faults": [{"name": "f", "op": "a", "effect": {"kind": "raise"}, "more": 1}]})", "test")), "unknown_key");
  EXPECT_EQ(refusal(with(R"({"ndim": 2})")), "unknown_key");
  EXPECT_EQ(refusal(with(R"({"size_equals": {"dim": 0, "size": 1, "by": 2}})")), "unknown_key");
  EXPECT_EQ(refusal(with(R"({"call": {"nth": 1, "of": 2}})")), "unknown_key");
  EXPECT_EQ(refusal(with(R"({"attribute": {"name": "a", "equals": 1, "x": 1}})")), "unknown_key");
  EXPECT_EQ(refusal(with(R"({"value": {"any_above": 1, "x": 1}})")), "unknown_key");
  EXPECT_EQ(refusal(with("{}", R"({"kind": "zero_output", "by": 2})")), "unknown_key");
  EXPECT_EQ(refusal(with("{}", R"({"kind": "scale", "by": 2, "bits": 3})")), "unknown_key");
}

TEST(Fault, WordsAndNumbersOutsideTheFormatAreRefused) {
  EXPECT_EQ(refusal(with(R"({"layout": "sideways"})")), "bad_fault");
  EXPECT_EQ(refusal(with(R"({"dtype": ["f33"]})")), "bad_fault");
  EXPECT_EQ(refusal(with(R"({"value": "any_odd"})")), "bad_fault");
  EXPECT_EQ(refusal(with(R"({"arg_device": "mps"})")), "bad_fault");
  EXPECT_EQ(refusal(with(R"({"not_divisible": {"dim": 0, "size": 0}})")), "bad_fault");
  EXPECT_EQ(refusal(with(R"({"call": {}})")), "bad_fault");
  EXPECT_EQ(refusal(with(R"({"call": {"nth": 1, "every": 2}})")), "bad_fault");
  EXPECT_EQ(refusal(with("{}", R"({"kind": "explode"})")), "bad_fault");
  EXPECT_EQ(refusal(with("{}", R"({"kind": "round_output", "bits": 0})")), "bad_fault");
  EXPECT_EQ(refusal(with("{}", R"({"kind": "accumulate_in", "dtype": "i32"})")), "bad_fault");
  EXPECT_EQ(refusal(with("{}", R"({"kind": "scale"})")), "missing_key");
  EXPECT_EQ(refusal(with("{}")), "");
}

TEST(Fault, AMessageNamesFileAndKey) {
  const std::string text = error_text([] { parse_faults(with(R"({"sizes": 1})"), "faults.json"); });
  EXPECT_NE(text.find("faults.json"), std::string::npos) << text;
  EXPECT_NE(text.find("faults[0].when"), std::string::npos) << text;
  EXPECT_NE(text.find("sizes"), std::string::npos) << text;
}

TEST(Fault, ANameIsGivenOnce) {
  const std::string one = R"({"name": "f", "op": "a", "effect": {"kind": "raise"}})";
  EXPECT_EQ(refusal(parse_json("{\"faults\": [" + one + "," + one + "]}", "test")), "duplicate_fault");
}

TEST(Fault, TheSchemaSaysWhatTheReaderSays) {
  const std::filesystem::path source = DRIFTGATE_SOURCE_DIR, schema = source / "docs/schema/faults.schema.json";
  EXPECT_EQ(complaint(schema, read_text(source / "tests/detects/smoke.json")), "");
  EXPECT_GE(read_faults(source / "tests/detects/smoke.json").size(), 15u);
  EXPECT_EQ(complaint(schema, with(R"({"arg": 1, "call": {"nth": 2}, "value": {"any_above": 1}})").dump()), "");
  for (const Json& wrong : {with(R"({"ndim": 2})"), with(R"({"call": {"nth": 1, "every": 2}})"), with("{}", R"({"kind": "scale"})"),
                            with("{}", R"({"kind": "zero_output", "by": 2})"), with("{}", R"({"kind": "explode"})")}) {
    EXPECT_NE(complaint(schema, wrong.dump()), "") << wrong.dump();
    EXPECT_NE(refusal(wrong), "") << wrong.dump();
  }
}

TEST(Fault, GlobsAreJoinedByABar) {
  EXPECT_TRUE(any_glob_matches("aten::mm*|aten::bmm", "aten::bmm"));
  EXPECT_TRUE(any_glob_matches("aten::mm*|aten::bmm", "aten::mm.out"));
  EXPECT_FALSE(any_glob_matches("aten::mm*|aten::bmm", "aten::bmm.out"));
}

}  // namespace
}  // namespace driftgate
