#include "case/twin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "case/case.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr const char* kSpecs = R"spec({"schema": "driftgate.spec/1", "rows": [
  {"family": "norm", "ops": ["aten::layer_norm"], "bound": "general", "policies": ["fp32", "bf16"], "directions": ["forward", "backward"],
   "no_twins": ["layer_norm/affine/backward/offset_*"],
   "cases": {"vector": {"input": {"shape": [8], "fill": "normal"}, "normalized_shape": [8]},
             "affine": {"input": {"shape": [4, 8], "fill": "normal"}, "normalized_shape": [8],
                        "weight": {"shape": [8], "fill": "normal"}, "bias": {"shape": [8], "fill": "constant"}},
             "images": {"input": {"shape": [2, 3, 4, 5], "fill": "normal"}, "normalized_shape": [5]},
             "other": {"input": {"shape": [4, 8], "fill": "normal"}, "normalized_shape": [8]}}},
  {"family": "copy", "ops": ["aten::gather"], "bound": "exact", "policies": ["fp32"], "directions": ["forward"],
   "cases": {"plain": {"self": {"shape": [3, 4], "fill": "normal"}, "dim": 0, "index": {"shape": [3, 4], "fill": "integers(low=0, high=2)", "dtype": "i64"}}}}]})spec";

Suite suite(Forms forms = {}) { return Suite(parse_specs(parse_json(kSpecs, "t"), "t"), std::move(forms)); }

std::set<std::string> twins(const Suite& made, const std::string& stem, SuiteTier tier = SuiteTier::full) {
  Filter filter;
  filter.tier = tier;
  filter.globs = {stem + "/*"};
  std::set<std::string> names;
  made.for_each(filter, [&](const Case& c) { names.insert(c.twin->name); });
  return names;
}

TEST(Twins, EveryOperandHasTheLayoutsThatItsShapeAllows) {
  const Suite made = suite();
  const auto names = twins(made, "layer_norm/affine/fp32/forward");
  for (const char* due : {"canonical", "permuted_input", "step2_input", "offset_input", "slice_input", "expanded_input", "step2_weight",
                          "offset_weight", "expanded_weight", "step2_bias", "inputs_kept", "grad_mode", "repeat", "poisoned"})
    EXPECT_TRUE(names.count(due)) << due;
  for (const char* absurd : {"permuted_weight", "slice_weight", "channels_last_input", "expanded_bias", "grads_input", "inplace", "out"})
    EXPECT_FALSE(names.count(absurd)) << absurd;
  EXPECT_TRUE(twins(made, "layer_norm/images/fp32/forward").count("channels_last_input"));
}

TEST(Twins, IndicesHaveLayoutsButAreNotRepeated) {
  const auto names = twins(suite(), "gather/plain/fp32/forward");
  EXPECT_TRUE(names.count("permuted_index"));
  EXPECT_FALSE(names.count("expanded_index"));
  EXPECT_FALSE(names.count("grad_mode"));
}

TEST(Twins, BackwardHasSubsetsOfGradientsAndUpstreamLayouts) {
  const Suite made = suite();
  const auto names = twins(made, "layer_norm/affine/fp32/backward");
  for (const char* due : {"grads_input", "grads_weight", "not_grads_input", "upstream_strided", "upstream_expanded", "permuted_input"})
    EXPECT_TRUE(names.count(due)) << due;
  for (const char* absurd : {"inputs_kept", "grad_mode"}) EXPECT_FALSE(names.count(absurd)) << absurd;
  EXPECT_FALSE(twins(made, "layer_norm/other/fp32/backward").count("grads_input"));
}

TEST(Twins, WhatTheRowRulesOutIsLeftOutInThatDirectionOnly) {
  const Suite made = suite();
  EXPECT_FALSE(twins(made, "layer_norm/affine/fp32/backward").count("offset_input"));
  EXPECT_TRUE(twins(made, "layer_norm/affine/fp32/forward").count("offset_input"));
}

TEST(Twins, TheOperatorsRoadsComeFromTheForms) {
  const Suite made = suite({{"layer_norm/affine", {"out", "pair_eps", "batch"}}, {"gather/plain", {"inplace"}}});
  const auto names = twins(made, "layer_norm/affine/fp32/forward");
  EXPECT_TRUE(names.count("out") && names.count("pair_eps") && names.count("batch"));
  EXPECT_FALSE(twins(made, "layer_norm/affine/fp32/backward").count("out"));
  const auto gather = twins(made, "gather/plain/fp32/forward");
  EXPECT_TRUE(gather.count("inplace") && gather.count("inplace_strided"));
  EXPECT_FALSE(gather.count("out"));
}

TEST(Twins, TheStandardTierTwinsOnePlaneAndOneImageOfEachRowAndPoisonsMemoryForAll) {
  const Suite made = suite();
  EXPECT_GT(twins(made, "layer_norm/affine/fp32/forward", SuiteTier::standard).size(), 1u);
  EXPECT_GT(twins(made, "layer_norm/images/fp32/forward", SuiteTier::standard).size(), 1u);
  EXPECT_EQ(twins(made, "layer_norm/vector/fp32/forward", SuiteTier::standard), (std::set<std::string>{"canonical", "poisoned"}));
  EXPECT_GT(twins(made, "layer_norm/vector/fp32/forward").size(), 1u);
}

TEST(Twins, AreFoundByTheirIdAndOthersAreNot) {
  const Suite made = suite();
  const Case c = made.find("layer_norm/affine/bf16/backward/grads_weight");
  EXPECT_EQ(c.twin->kind, TwinKind::grads);
  EXPECT_EQ(c.twin->argument, "weight");
  EXPECT_FALSE(c.canonical());
  EXPECT_EQ(c.id(), "layer_norm/affine/bf16/backward/grads_weight");
  EXPECT_THROW(made.find("layer_norm/affine/bf16/forward/grads_weight"), Error);
  EXPECT_THROW(made.find("layer_norm/affine/bf16/backward/grads_eps"), Error);
}

TEST(Forms, PrintAndReadBackAndRefuseUnknownRoads) {
  const auto directory = std::filesystem::temp_directory_path() / "driftgate_forms_test";
  std::filesystem::create_directories(directory);
  const Forms forms = {{"add.Tensor/plain", {"inplace", "out", "pair_alpha"}}, {"sum/all", {"batch"}}};
  write_text(directory / kFormsFile, to_text(forms));
  EXPECT_EQ(read_forms(directory), forms);
  write_text(directory / kFormsFile, "sum/all\tsideways\n");
  EXPECT_THROW(read_forms(directory), Error);
  remove_tree(directory);
  EXPECT_TRUE(read_forms(directory).empty());
}

}  // namespace
}  // namespace driftgate
