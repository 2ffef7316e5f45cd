// The programs of level preprocess, each rule beside a twin in which it must say no.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "../error_name.hpp"
#include "device/torch_types.hpp"
#include "inline_suite.hpp"
#include "preprocess/image.hpp"
#include "run/program_case.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

using namespace preprocess;

at::Tensor picture() { return at::arange(3 * 8 * 10, c10::kDouble).view({1, 3, 8, 10}).remainder(251); }

Suite suite_of(const std::string& op, const std::string& bound, const std::string& settings) {
  return inline_suite(R"({"family": "pictures", "ops": ["preprocess::)" + op + R"("], "bound": ")" + bound +
                      R"(", "policies": ["fp32"], "directions": ["forward"], "cases": {"one": {)" + settings + "}}}");
}

std::string error_of(const std::string& op, const std::string& settings) {
  const Suite suite = suite_of(op, "levels", settings);
  return error_name([&] { Runner(Device::cpu, nullptr).run(suite.find("preprocess." + op + "/one/fp32/forward/canonical")); });
}

TEST(Preprocess, AResizedRampIsStillARamp) {
  const at::Tensor ramp = at::arange(12, c10::kDouble).view({1, 1, 1, 12}).expand({1, 1, 6, 12}).contiguous();
  const at::Tensor half = resize(ramp, {"bilinear", {3, 6}, true, false});
  const at::Tensor steps = half.slice(3, 2, 5) - half.slice(3, 1, 4);
  EXPECT_TRUE(steps.allclose(at::full_like(steps, 2)));
  EXPECT_FALSE(resize(ramp, {"bilinear", {3, 6}, false, false}).equal(resize(ramp, {"bilinear", {3, 6}, false, true}))) << "corners matter";
  EXPECT_EQ(error_name([&] { resize(ramp, {"lanczos9", {3, 6}, false, false}); }), "bad_setting");
}

TEST(Preprocess, ACropIsTheMiddleAndPadsWhatIsMissing) {
  EXPECT_TRUE(centre_crop(picture(), 4, 6).equal(picture().slice(2, 2, 6).slice(3, 2, 8)));
  const at::Tensor larger = centre_crop(picture(), 12, 10);
  EXPECT_EQ(larger.size(2), 12);
  EXPECT_TRUE(larger.slice(2, 2, 10).equal(picture()));
  EXPECT_EQ(larger.slice(2, 0, 2).abs().max().item<double>(), 0);
}

TEST(Preprocess, ColoursGoThereAndBack) {
  EXPECT_TRUE(ycbcr_to_rgb(rgb_to_ycbcr(picture())).allclose(picture(), 1e-6, 1e-5));
  const at::Tensor gray = at::full({1, 3, 2, 2}, 77, c10::kDouble);
  EXPECT_TRUE(rgb_to_gray(gray).allclose(at::full({1, 1, 2, 2}, 77, c10::kDouble)));
  EXPECT_TRUE(rgb_to_ycbcr(gray).slice(1, 1, 3).allclose(at::full({1, 2, 2, 2}, 128, c10::kDouble), 1e-6, 1e-5)) << "a gray has no colour";
}

TEST(Preprocess, LevelsRoundToTheNearestAndClamp) {
  const at::Tensor levels = to_levels(at::tensor({-3.0, 0.4, 1.5, 2.5, 254.6, 300.0}));
  EXPECT_TRUE(levels.equal(at::tensor({0, 0, 2, 2, 255, 255}, c10::kByte)));
}

TEST(Preprocess, NormalisedLevelsHaveTheirMeanAtZero) {
  const at::Tensor made = normalise(at::full({1, 3, 2, 2}, 51, c10::kByte), c10::kDouble, {0.2, 0.2, 0.1}, {0.5, 0.1, 0.1});
  EXPECT_NEAR(made[0][0][0][0].item<double>(), 0, 1e-15);
  EXPECT_NEAR(made[0][2][0][0].item<double>(), 1, 1e-12);
}

TEST(Preprocess, AClassThatARoundingCouldDecideIsNoCase) {
  const std::string rest = R"("mode": "bilinear", "size": [40, 44], "crop": 40, )";
  EXPECT_EQ(error_of("classify", R"("pictures": ["scene", "odd_420"], "classes": 10, )" + rest.substr(0, rest.size() - 2)), "");
  std::string seen;
  for (int classes = 100; classes < 110 && seen.empty(); ++classes)      // among so many, some two are close together
    seen = error_of("classify", R"("pictures": ["scene", "odd_420", "restart", "baseline_422"], "classes": )" + std::to_string(20 * classes) + ", " +
                                    rest.substr(0, rest.size() - 2));
  EXPECT_EQ(seen, "small_margin");
}

TEST(Preprocess, WhatASpecMisspellsIsAnError) {
  EXPECT_EQ(error_of("decode", R"("picture": "gray")"), "");
  EXPECT_EQ(error_of("decode", R"("picture": "grey")"), "unknown_picture");
  EXPECT_EQ(error_of("decode", R"("picture": "gray", "sise": 3)"), "unknown_key");
  EXPECT_EQ(error_of("flip", R"("picture": "gray", "dims": [])"), "wrong_type");
  EXPECT_EQ(error_of("colour", R"("picture": "scene", "to": "mauve")"), "bad_setting");
}

TEST(Preprocess, APictureTwoLevelsOffIsOverEveryLimit) {
  const Suite suite = suite_of("resize", "levels", R"("picture": "odd_444", "mode": "bilinear", "size": [20, 20])");
  const PreparedProgram prepared = prepare_program(suite.find("preprocess.resize/one/fp32/forward/canonical"));
  const Reference reference = program_reference(prepared);
  ASSERT_TRUE(reference.ok) << reference.message;
  ASSERT_EQ(reference.outputs[0].bound, Bound::levels);
  constexpr auto kLevels = static_cast<std::size_t>(Bound::levels);
  Buffer good = run_program(prepared, Device::cpu).outputs[0].value;
  EXPECT_LE(compare_output(good, reference.outputs[0]).required[kLevels], 0.02);
  good.bytes[17] = static_cast<std::byte>(static_cast<int>(reference.outputs[0].value.bytes[17]) ^ 2);
  EXPECT_GE(compare_output(good, reference.outputs[0]).required[kLevels], 2);
}

}  // namespace
}  // namespace driftgate
