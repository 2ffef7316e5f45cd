// The profiles of models: what each lets pass, and what no file may say.
#include "judge/model_profile.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "error_name.hpp"
#include "judge_fixture.hpp"
#include "schema_complaint.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kSource = DRIFTGATE_SOURCE_DIR, kFile = kSource / "tolerances/profiles.json", kSchema = kSource / "docs/schema/profiles.schema.json";

ModelProfile shipped(const std::string& name) { return ModelProfile::load(kFile, name); }

std::string beyond(const std::string& profile, std::map<std::string, double> metrics, Policy policy = Policy::fp32) {
  return shipped(profile).first_beyond(metrics, policy);
}

TEST(ModelProfile, EachIsLooserThanTheOneBefore) {
  const ModelProfile strict = shipped("strict"), standard = shipped("standard"), relaxed = shipped("relaxed");
  EXPECT_EQ(standard.scale, 1);
  EXPECT_LT(strict.scale, standard.scale);
  EXPECT_LT(standard.scale, relaxed.scale);
  for (std::size_t policy = 0; policy < kPolicies; ++policy) {
    EXPECT_LE(strict.limits[policy].at("kl_mean"), standard.limits[policy].at("kl_mean"));
    EXPECT_LE(standard.limits[policy].at("kl_mean"), relaxed.limits[policy].at("kl_mean"));
    EXPECT_GE(standard.limits[policy].at("top1"), relaxed.limits[policy].at("top1"));
  }
}

TEST(ModelProfile, MetricsHaveLimits) {
  EXPECT_EQ(beyond("standard", {{"kl_mean", 1e-12}, {"top1", 1}, {"cosine", 1}}), "");
  EXPECT_EQ(beyond("standard", {{"kl_mean", 1e-6}}), "kl_mean");
  EXPECT_EQ(beyond("standard", {{"kl_mean", 1e-6}}, Policy::amp_bf16), "");
  EXPECT_EQ(beyond("standard", {{"top1", 0.5}}), "top1");
  EXPECT_EQ(beyond("standard", {{"kl_max", 5}}), "") << "reported, not gated";
  EXPECT_EQ(beyond("relaxed", {{"kl_mean", std::nan("")}}), "kl_mean");
}

TEST(ModelProfile, DecidesWithTheLimitOfTheRow) {
  Row spec = spec_row("models", Bound::ratio);
  spec.ops = {"model::mlp"};
  const Suite suite({spec});
  const auto judged = [&](const std::string& profile, double required, double divergence, const char* direction = "forward") {
    ToleranceRow row = row_of("models", 8);
    row.profile = std::make_shared<const ModelProfile>(shipped(profile));
    CaseRecord record = record_of(std::string("model.mlp/wide/fp32/") + direction + "/canonical", {output_of(Bound::ratio, required)});
    record.observed = {{"f32", 3}};
    record.outputs[0].metrics = {{"kl_mean", divergence}};
    return verdict(judge_case(record, suite.find(record.id), row));
  };
  EXPECT_EQ(judged("standard", 6, 0), "pass");
  EXPECT_EQ(judged("strict", 6, 0), "fail over_limit");
  EXPECT_EQ(judged("standard", 12, 0), "fail over_limit");
  EXPECT_EQ(judged("relaxed", 12, 0), "pass");
  EXPECT_EQ(judged("standard", 6, 1e-3), "fail kl_mean");
  EXPECT_EQ(judged("standard", 6, 1e-3, "backward"), "pass") << "a gradient has the limit of its row alone";
}

TEST(ModelProfile, ItsFileIsNoTableOfLimits) {
  EXPECT_FALSE(holds_rows(kFile)) << "else a command that updates the tables would rewrite it";
  EXPECT_TRUE(holds_rows(kSource / "tolerances/models.json"));
}

TEST(ModelProfile, FilesAreNotTrusted) {
  const Json good = read_json(kFile);
  TemporaryFolder folder;
  const auto refusal = [&](const std::string& pointer, const Json& value) {
    Json bad = good;
    bad[Json::json_pointer(pointer)] = value;
    write_text(folder / "p.json", bad.dump());
    EXPECT_NE(complaint(kSchema, bad.dump()), "") << pointer;
    return error_name([&] { ModelProfile::load(folder / "p.json", "standard"); });
  };
  EXPECT_EQ(complaint(kSchema, good.dump()), "");
  EXPECT_EQ(error_name([] { shipped("lax"); }), "unknown_profile");
  EXPECT_EQ(refusal("/schema", "driftgate.profiles/2"), "other_schema");
  EXPECT_EQ(refusal("/colour", 1), "unknown_key");
  EXPECT_EQ(refusal("/profiles/0/scale", 0), "bad_value");
  EXPECT_EQ(refusal("/profiles/0/metrics/fp64", Json::object()), "bad_policy");
  EXPECT_EQ(refusal("/profiles/0/metrics/fp32/kl_max", 1), "unknown_metric");
  EXPECT_EQ(refusal("/profiles/0/metrics/fp32/top1", -1), "bad_value");
}

}  // namespace
}  // namespace driftgate
