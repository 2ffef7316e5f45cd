#include "json.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <fstream>

#include "error_name.hpp"

namespace driftgate {
namespace {

std::string parse_error(const std::string& text) {
  return error_name([&] { parse_json(text, "file.json"); });
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(Json, ReadsEveryKindOfValueInFileOrder) {
  const Json value = parse_json(R"({"z": [1, -2, 2.5, true, null, "text", {}], "a": {"b": []}} )", "file.json");
  EXPECT_EQ(value.dump(), R"({"z":[1,-2,2.5,true,null,"text",{}],"a":{"b":[]}})");
}

TEST(Json, BadSyntaxIsAnErrorThatNamesTheFile) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "[1] 2", "// note\n1", "nan", "[Infinity]", "[1e999]", "[01]", "\"\xff\"", "{\"a\" 1}"}) {
    EXPECT_EQ(parse_error(text), "bad_json") << text;
  }
  EXPECT_EQ(error_text([] { parse_json("[1,]", "rows.json"); }).rfind("rows.json: ", 0), 0u);
}

TEST(Json, DuplicateKeysAreRefusedAtAnyDepthAndNamed) {
  EXPECT_EQ(parse_error(R"({"a": 1, "a": 1})"), "duplicate_key");
  EXPECT_EQ(parse_error(R"([{"x": {"b": 1, "c": 2, "b": {}}}])"), "duplicate_key");
  EXPECT_EQ(parse_error(R"({"a": 1, "\u0061": 2})"), "duplicate_key");
  EXPECT_NE(error_text([] { parse_json(R"({"limit": 1, "limit": 2})", "f"); }).find("\"limit\""), std::string::npos);
}

TEST(Json, TheSameKeyInDifferentObjectsIsFine) { EXPECT_EQ(parse_error(R"([{"a": {"a": 1}}, {"a": 2}])"), ""); }

TEST(Json, DepthIsLimitedTo64) {
  EXPECT_EQ(parse_error(nested(64)), "");
  EXPECT_EQ(parse_error(nested(65)), "bad_json");
  EXPECT_EQ(parse_error(std::string(1'000'000, '[')), "bad_json");
}

TEST(Json, ManyKeysOfOneObjectTakeLinearTime) {
  std::string text = "{";
  for (int i = 0; i < 50'000; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  EXPECT_EQ(parse_json(text + "\"end\":0}", "f").size(), 50'001u);
  EXPECT_EQ(parse_error(text + "\"k7\":0}"), "duplicate_key");
}

TEST(Json, NonFiniteNumbersTravelAsStrings) {
  EXPECT_EQ(number(1.5).dump(), "1.5");
  EXPECT_EQ(number(NAN).dump(), "\"nan\"");
  EXPECT_EQ(number(-INFINITY).dump(), "\"-inf\"");
  EXPECT_EQ(as_number(number(INFINITY), "x"), INFINITY);
  EXPECT_EQ(as_number(number(-INFINITY), "x"), -INFINITY);
  EXPECT_TRUE(std::isnan(as_number(number(NAN), "x")));
  EXPECT_EQ(as_number(parse_json(number(0.1).dump(), "f"), "x"), 0.1);
}

TEST(Json, OtherThingsAreNotNumbers) {
  for (const char* text : {"null", "true", "\"1\"", "\"NaN\"", "\"\"", "[]", "{}"}) {
    EXPECT_EQ(error_name([&] { as_number(parse_json(text, "f"), "x"); }), "wrong_type") << text;
  }
}

TEST(ObjectReader, ReadsWhatIsThereAndFallsBackWhereItIsNot) {
  const Json json = parse_json(R"({"s": "t", "r": "inf", "i": -3, "b": true, "l": ["x", "y"], "o": {}, "a": [1]})", "f");
  ObjectReader reader(json, "f");
  EXPECT_EQ(reader.string("s"), "t");
  EXPECT_EQ(reader.string("no_s", "other"), "other");
  EXPECT_EQ(reader.real("r"), INFINITY);
  EXPECT_EQ(reader.real("i"), -3.0);
  EXPECT_EQ(reader.real("no_r", 0.5), 0.5);
  EXPECT_EQ(reader.integer("i"), -3);
  EXPECT_EQ(reader.integer("no_i", 9), 9);
  EXPECT_TRUE(reader.boolean("b", false));
  EXPECT_TRUE(reader.boolean("no_b", true));
  EXPECT_EQ(reader.strings("l"), (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(reader.strings("no_l", {"z"}), std::vector<std::string>{"z"});
  EXPECT_TRUE(reader.object("o").empty());
  EXPECT_EQ(reader.array("a").size(), 1u);
  EXPECT_FALSE(reader.has("absent"));
  EXPECT_EQ(error_name([&] { reader.finish(); }), "");
}

TEST(ObjectReader, WrongTypesAreErrorsThatNameTheKey) {
  const Json json = parse_json(R"({"n": 1, "f": 1.0, "big": 9223372036854775808, "s": "t", "l": ["x", 2]})", "f");
  ObjectReader reader(json, "f");
  EXPECT_EQ(error_name([&] { reader.string("n"); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.string("n", "fallback"); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.real("s"); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.integer("f"); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.integer("big", 0); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.boolean("n", false); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.object("l"); }), "wrong_type");
  EXPECT_EQ(error_name([&] { reader.array("s"); }), "wrong_type");
  EXPECT_NE(error_text([&] { reader.strings("l"); }).find("f: l[1]"), std::string::npos);
  EXPECT_EQ(error_name([&] { ObjectReader(json["l"], "f.l"); }), "wrong_type");
}

TEST(ObjectReader, MissingAndUnknownKeysAreErrors) {
  const Json json = parse_json(R"({"limit": 1, "limt": 2})", "f");
  ObjectReader reader(json, "f");
  EXPECT_EQ(error_name([&] { reader.real("row"); }), "missing_key");
  reader.real("limit");
  const std::string text = error_text([&] { reader.finish(); });
  EXPECT_NE(text.find("f: limt"), std::string::npos);
  EXPECT_NE(text.find("[unknown_key]"), std::string::npos);
}

TEST(Text, WritesAndReadsBackWholeFiles) {
  const TemporaryFolder folder;
  const std::string text("a\0b\xff\n", 5);
  write_text(folder / "f", "old and longer");
  write_text(folder / "f", text);
  EXPECT_EQ(read_text(folder / "f"), text);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file was left";
}

TEST(Text, ReadingRefusesWhatIsMissingOrTooLarge) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_name([&] { read_text(folder / "absent"); }), "unreadable");
  EXPECT_EQ(error_name([&] { read_text(folder.path()); }), "unreadable");
  write_text(folder / "f", "[12]");
  EXPECT_EQ(read_json(folder / "f", 4), Json::array({12}));
  EXPECT_EQ(error_name([&] { read_json(folder / "f", 3); }), "too_large");
}

TEST(Text, AFolderThatIsMissingIsUnwritable) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_name([&] { write_text(folder / "no/f", "x"); }), "unwritable");
  EXPECT_EQ(error_name([&] { write_text(folder.path(), "x"); }), "unwritable");
}

TEST(Text, AFullDiskLeavesTheOldFile) {
  const TemporaryFolder folder;
  write_text(folder / "f", "old");
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  const std::string name = error_name([&] { write_text(folder / "f", std::string(8192, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(name, "unwritable");
  EXPECT_EQ(read_text(folder / "f"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file was left";
}

TEST(Text, DevicesAndLinksAreWrittenInPlace) {
  const TemporaryFolder folder;
  write_text(folder / "target", "old");
  std::filesystem::create_symlink(folder / "target", folder / "link");
  write_text(folder / "link", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
  EXPECT_EQ(read_text(folder / "target"), "new");
  write_text("/dev/null", "x");
  EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_EQ(error_name([] { write_text("/dev/full", "x"); }), "unwritable");
  }
}

}  // namespace
}  // namespace driftgate
