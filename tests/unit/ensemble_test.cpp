// Trajectories against an ensemble: the unit, the floor, the first step outside, each with its twin.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "compare/ensemble.hpp"
#include "error_name.hpp"

namespace driftgate {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Four steps around 1, 2, 4, 8, the members a relative `width` apart at step `from` and after it.
Ensemble around(double width, std::size_t from = 0) {
  std::vector<std::vector<double>> members;
  for (const double side : {-1.0, 0.0, 1.0}) {
    std::vector<double> member = {1, 2, 4, 8};
    for (std::size_t t = from; t < member.size(); ++t) member[t] *= 1 + side * width;
    members.push_back(member);
  }
  return summarise(members, 4);
}

Trajectory against(const Ensemble& ensemble, std::vector<double> values, double floor = 0) { return compare_trajectory(values, ensemble, 4, floor); }

TEST(Ensemble, UnitIsTheRunningSpreadOfTheMembers) {
  const Ensemble ensemble = around(0.01, 2);
  EXPECT_EQ(ensemble.spread[1], 0);
  EXPECT_NEAR(ensemble.spread[2], 0.01, 1e-12);
  EXPECT_NEAR(against(ensemble, {1, 2, 4 * 1.03, 8}).required, 3, 1e-9);
  EXPECT_EQ(against(ensemble, {1, 2, 4, 8}).required, 0);
  EXPECT_TRUE(std::isinf(against(ensemble, {1.0001, 2, 4, 8}).required)) << "no member was away there, and no floor was given";
}

TEST(Ensemble, SpreadNeverShrinksAlongARow) {
  const Ensemble ensemble = summarise({{0.9, 2, 1, 5}, {1.1, 2, 1, 5}}, 2);
  EXPECT_NEAR(ensemble.spread[1], ensemble.spread[0], 1e-15);
  EXPECT_EQ(ensemble.spread[2], 0) << "another parameter starts anew";
}

TEST(Ensemble, FloorLeavesRoomForAnotherImplementation) {
  const Ensemble ensemble = around(1e-9);
  EXPECT_NEAR(against(ensemble, {1 + 0x1p-21, 2, 4, 8}, 0x1p-21).required, 1, 1e-6);
  EXPECT_GT(against(ensemble, {1 + 0x1p-21, 2, 4, 8}).required, 100) << "without it an honest device is refused";
  EXPECT_LT(ensemble_floor(Policy::fp32), ensemble_floor(Policy::amp_fp16));
  EXPECT_LT(ensemble_floor(Policy::fp16), ensemble_floor(Policy::bf16));
}

TEST(Ensemble, ClimbsNameTheFirstStepOutside) {
  const Trajectory trajectory = against(around(0.01), {1.02, 2.02, 4.4, 10.4});
  ASSERT_EQ(trajectory.climbs.size(), 3U);
  EXPECT_EQ(first_step_outside(trajectory, 5), 2);
  EXPECT_EQ(first_step_outside(trajectory, 1), 0);
  EXPECT_EQ(first_step_outside(trajectory, 40), -1);
  EXPECT_EQ(trajectory.worst, 3);
}

TEST(Ensemble, NotANumberIsInfinitelyFar) {
  const Trajectory trajectory = against(around(0.01), {1, kNaN, 4, 8});
  EXPECT_TRUE(std::isinf(trajectory.required));
  EXPECT_EQ(first_step_outside(trajectory, 1e300), 1);
  EXPECT_TRUE(std::isinf(against(around(0.01), {1, 2, std::numeric_limits<double>::infinity(), 8}).required));
  Ensemble broken = around(0.01);
  broken.mean[3] = kNaN;
  EXPECT_TRUE(std::isinf(against(broken, {1, 2, 4, 8}).required));
}

TEST(Ensemble, AStepThatAllMembersSkipMustBeSkipped) {
  const Ensemble ensemble = summarise({{1, 0}, {1.1, 0}}, 2);
  EXPECT_EQ(compare_trajectory(std::vector<double>{1.05, 0}, ensemble, 2, 0x1p-21).required, 0);
  EXPECT_TRUE(std::isinf(compare_trajectory(std::vector<double>{1.05, 1e-9}, ensemble, 2, 0x1p-21).required));
}

TEST(Ensemble, StandingSaysHowFarTheReferenceMoves) {
  EXPECT_NEAR(against(around(0.01), {1, 2, 4, 8}).standing, 87.5, 1e-6);                                  // (8 - 1) / 0.08
  EXPECT_EQ(compare_trajectory(std::vector<double>{1, 1}, summarise({{0.9, 0.9}, {1.1, 1.1}}, 2), 2, 0).standing, 0) << "a loss that does not fall";
}

TEST(Ensemble, RefusesWhatIsNoEnsemble) {
  EXPECT_EQ(error_name([] { summarise({{1, 2}}, 2); }), "bad_ensemble");
  EXPECT_EQ(error_name([] { summarise({{1, 2}, {1, 2, 3}}, 2); }), "bad_ensemble");
  EXPECT_EQ(error_name([] { summarise({{1, 2, 3}, {1, 2, 3}}, 2); }), "bad_ensemble");
  EXPECT_EQ(error_name([] { summarise({{1, 2}, {1, 2}}, 2); }), "");
  EXPECT_EQ(error_name([] { against(around(0.01), {1, 2}); }), "bad_length");
}

}  // namespace
}  // namespace driftgate
