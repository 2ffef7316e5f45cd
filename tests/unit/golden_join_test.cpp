#include "run/golden_join.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "error.hpp"

namespace driftgate {
namespace {

class GoldenJoinTest : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(root_); }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // A part that gives each id the value, and refuses some.
  std::filesystem::path part(const std::string& name, const std::vector<std::string>& ids, double value, const Json& refused = Json::object(), const char* card = "a card") {
    GoldenContent content;
    for (const std::string& id : ids) {
      GoldenOutput output;
      output.name = "result";
      output.shape = {1};
      output.digest = std::string(32, 'a');
      output.sample = from_doubles(DType::f32, {1}, {value});
      output.required = output.spread = 0;
      output.doubles = {value};
      content["matmul"][id] = {std::string(32, 'b'), {output}};
    }
    write_golden_set(root_ / name, Json{{"card", card}, {"driftgate", name}, {"host", Json::object()}, {"unsupported", refused}}, content);
    return root_ / name;
  }

  static double value(const GoldenJoin& joined, const std::string& id) { return to_doubles(joined.content.at("matmul").at(id).outputs.at(0).sample).at(0); }

  std::filesystem::path root_ = std::filesystem::temp_directory_path() / ("driftgate_join_" + std::to_string(::getpid()));
};

TEST_F(GoldenJoinTest, TheLaterPartWinsAndStrangersStay) {
  const GoldenJoin joined = join_goldens({part("one", {"x", "y", "gone"}, 1), part("two", {"y", "z"}, 2)}, {"x", "y", "z"});
  EXPECT_EQ(joined.content.at("matmul").size(), 3U) << "an id that no spec makes is left behind";
  EXPECT_EQ(value(joined, "x"), 1);
  EXPECT_EQ(value(joined, "y"), 2);
  EXPECT_EQ(value(joined, "z"), 2);
  EXPECT_EQ(joined.provenance["driftgate"], "two");
  EXPECT_EQ(joined.provenance["joined"].size(), 2U);
}

TEST_F(GoldenJoinTest, ACaseIsMadeOrRefusedNeverBoth) {
  const Json refused{{"x", "no kernel"}, {"stranger", "no kernel"}};
  const GoldenJoin after = join_goldens({part("one", {"x", "y"}, 1), part("two", {"z"}, 2, refused)}, {"x", "y", "z"});
  EXPECT_EQ(after.content.at("matmul").count("x"), 0U);
  EXPECT_EQ(after.provenance["unsupported"], (Json{{"x", "no kernel"}}));
  const GoldenJoin before = join_goldens({root_ / "two", root_ / "one"}, {"x", "y", "z"});
  EXPECT_EQ(value(before, "x"), 1);
  EXPECT_EQ(before.provenance["unsupported"], Json::object());
}

TEST_F(GoldenJoinTest, AJoinedSetKeepsTheListOfItsParts) {
  const GoldenJoin first = join_goldens({part("one", {"x"}, 1), part("two", {"y"}, 2)}, {"x", "y"});
  write_golden_set(root_ / "joined", first.provenance, first.content);
  const GoldenJoin second = join_goldens({root_ / "joined", part("three", {"z"}, 3)}, {"x", "y", "z"});
  ASSERT_EQ(second.provenance["joined"].size(), 3U);
  EXPECT_EQ(second.provenance["joined"][1]["driftgate"], "two");
}

TEST_F(GoldenJoinTest, RefusesAnotherCard) {
  try {
    join_goldens({part("one", {"x"}, 1), part("two", {"y"}, 2, Json::object(), "another card")}, {"x", "y"});
    FAIL() << "joined";
  } catch (const Error& error) {
    EXPECT_EQ(error.name(), "other_card");
  }
}

}  // namespace
}  // namespace driftgate
