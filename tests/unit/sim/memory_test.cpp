// Memory that an operator keeps: seen by the twins that call it again, in one shape or in several.
#include <gtest/gtest.h>

#include "../torch/inline_suite.hpp"
#include "run/runner.hpp"
#include "simulated.hpp"

namespace driftgate {
namespace {

std::string stage(const std::string& twin) {
  const Suite suite = inline_suite(R"({"family": "activation", "ops": ["aten::gelu"], "bound": "pointwise", "policies": ["fp32"], "directions": ["forward"],
      "cases": {"a": {"self": {"shape": [6, 5], "fill": "normal"}}}})", {{"gelu/a", {"batch"}}});
  Runner runner(Device::sim, nullptr);
  runner.run(suite.find("gelu/a/fp32/forward/canonical"));
  return runner.run(suite.find("gelu/a/fp32/forward/" + twin)).stage;
}

const char* const kLeak = R"({"kind": "leak", "bytes": 4096})";

TEST(Memory, ASoundOperatorKeepsNone) {
  sim();
  EXPECT_EQ(stage("repeat"), "done");
  EXPECT_EQ(stage("batch"), "done");
}

TEST(Memory, WhatEveryCallKeepsIsASideEffect) {
  const PlantedFault fault("aten::gelu", kLeak);
  EXPECT_EQ(stage("repeat"), "side_effect");
}

TEST(Memory, WhatEveryNewShapeKeepsIsASideEffect) {
  const PlantedFault fault("aten::gelu", kLeak, R"({"arg": 0, "new_shape": true})");
  EXPECT_EQ(stage("repeat"), "done") << "the first call of a shape may fill a cache";
  EXPECT_EQ(stage("batch"), "side_effect");
}

TEST(Memory, BytesInUseFollowTheTensors) {
  const at::Tensor small = at::empty({1}, at::TensorOptions().device(sim()));
  const std::int64_t before = bytes_in_use(Device::sim).value();
  {
    const at::Tensor large = at::empty({1 << 20}, at::TensorOptions().device(sim()));
    EXPECT_GE(bytes_in_use(Device::sim).value(), before + (4 << 20));
  }
  EXPECT_EQ(bytes_in_use(Device::sim).value(), before);
  EXPECT_FALSE(bytes_in_use(Device::cpu).has_value());
}

}  // namespace
}  // namespace driftgate
