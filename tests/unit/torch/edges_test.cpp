#include "run/edges.hpp"

#include <gtest/gtest.h>
#include <torch/library.h>

#include "inline_suite.hpp"

namespace driftgate {
namespace {

at::Tensor wrong_from_nine_rows(const at::Tensor& self) {
  const bool honest = self.scalar_type() == c10::kDouble;       // the reference stays right
  return self.mul(!honest && self.size(0) > 8 ? 2.5 : 2);
}

TORCH_LIBRARY_FRAGMENT(aten, m) { m.def("dg_wrong_from_nine(Tensor self) -> Tensor", &wrong_from_nine_rows); }

Suite suite_of(const std::string& op) {
  return inline_suite(R"({"family": "f", "ops": ["aten::)" + op + R"("], "bound": "linear", "terms": 1, "policies": ["fp32"], "directions": ["forward"],
    "cases": {"a": {"self": {"shape": [40, 6], "fill": "normal"}}}})");
}

std::optional<std::vector<Edge>> edges_of(const std::string& op) {
  const Suite suite = suite_of(op);
  ToleranceRow row;
  row.limit = 4;
  return find_edges(suite.find(op + "/a/fp32/forward/canonical"), row, Device::cpu, nullptr);
}

Trial above(std::int64_t n, std::int64_t right) { return n > right ? Trial::wrong : Trial::right; }

TEST(Edges, BisectFindsTheLastRightAndTheFirstWrongSize) {
  for (const std::int64_t right : {1, 2, 8, 31, 62}) {
    const auto edge = bisect(64, [&](std::int64_t n) { return above(n, right); });
    ASSERT_TRUE(edge);
    EXPECT_EQ(edge->right_up_to, right);
    EXPECT_EQ(edge->wrong_from, right + 1);
  }
}

TEST(Edges, SizesThatAreNotValidArePassedOver) {
  const auto edge = bisect(64, [](std::int64_t n) { return n % 8 != 0 ? Trial::invalid : above(n, 16); });
  ASSERT_TRUE(edge);
  EXPECT_EQ(edge->right_up_to, 16);
  EXPECT_EQ(edge->wrong_from, 24);
  EXPECT_FALSE(bisect(64, [](std::int64_t) { return Trial::invalid; }));
}

TEST(Edges, WrongEverywhereHasNoRightSize) {
  const auto edge = bisect(5, [](std::int64_t) { return Trial::wrong; });
  ASSERT_TRUE(edge);
  EXPECT_FALSE(edge->right_up_to);
  EXPECT_EQ(edge->wrong_from, 1);
}

TEST(Edges, AFailingCaseNamesTheDimThatMatters) {
  const auto edges = edges_of("dg_wrong_from_nine");
  ASSERT_TRUE(edges && edges->size() == 2);
  EXPECT_EQ(to_string((*edges)[1]), "self dim 0: right up to 8, wrong from 9");
  EXPECT_EQ(to_string((*edges)[0]), "self dim 1: wrong from 1 to 6, at every size tried");
  EXPECT_FALSE(edges_of("neg")) << "a case that passes has no edge";
}

}  // namespace
}  // namespace driftgate
