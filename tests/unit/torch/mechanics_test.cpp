// Training mechanics on the CPU: the honest one is true throughout, a broken one is not.
#include <gtest/gtest.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include "device/torch_types.hpp"
#include "training/mechanics.hpp"

namespace driftgate {
namespace {

using mechanic::Outputs;
using mechanic::Tensor;

// The inputs of a mechanic and a call on them.
struct Bench {
  Json settings;
  std::string where = "test: settings";
  std::vector<ProgramInput> declared;
  Tensors inputs;
  Policy policy;

  Bench(const std::string& name, const std::string& text, Policy asked = Policy::fp32) : settings(Json::parse(text)), policy(asked) {
    ObjectReader reader(settings, where);
    declared = find_program("training::" + name, where).inputs(reader);
    for (const ProgramInput& input : declared)
      inputs[input.name] = to_tensor(fill_tensor(input.tensor.fill, input.tensor.dtype.value_or(DType::f32), input.tensor.shape, "test/" + input.name));
  }
  ProgramCall call() const { return {inputs, declared, settings, where, policy, Direction::backward, c10::Device(c10::kCPU), false}; }
  Outputs run(const std::string& name) const { return find_program("training::" + name, where).run(call()); }
};

bool all_true(const Outputs& outputs) {
  bool truth = !outputs.empty();
  for (const NamedTensor& output : outputs) truth = truth && output.value.numel() > 0 && output.value.all().item<bool>();
  return truth;
}

std::string optimizer_settings(const std::string& kind, const std::string& form) {
  return R"({"optimizer": ")" + kind + R"(", "form": ")" + form + R"(", "lr": 0.01, "weight_decay": 0.05})";
}

TEST(Mechanics, EveryFormOfEveryOptimizerAgrees) {
  for (const char* kind : {"sgd", "adam", "adamw"})
    for (const char* form : {"plain", "foreach", "fused"}) EXPECT_TRUE(all_true(Bench("optimizer", optimizer_settings(kind, form)).run("optimizer"))) << kind << " " << form;
}

TEST(Mechanics, ABrokenOptimizerStepIsSeen) {
  const Bench bench("optimizer", optimizer_settings("sgd", "plain"));
  const auto scaled = [](Optimizer& own, const std::vector<Tensor>& gradients) { own.step({gradients[0] * 1.0001, gradients[1]}); };
  const auto lost = [](Optimizer& own, const std::vector<Tensor>& gradients) { own.step({gradients[0], at::zeros_like(gradients[1])}); };
  const auto idle = [](Optimizer&, const std::vector<Tensor>&) {};
  const auto stray = [](Optimizer& own, const std::vector<Tensor>& gradients) {
    own.step(gradients);
    if (own.steps() == 2) own.state()[1].add_(1e-4);                       // one moment is written where it should not be
  };
  for (const mechanic::Step& step : {mechanic::Step(scaled), mechanic::Step(lost), mechanic::Step(idle), mechanic::Step(stray)}) EXPECT_FALSE(all_true(mechanic::optimizer(bench.call(), step)));
}

TEST(Mechanics, EveryParameterMovesUnlessAWriteIsLost) {
  const Bench bench("moves", R"({"task": "recommender", "optimizer": "adam", "lr": 0.03})");
  EXPECT_TRUE(all_true(bench.run("moves")));
  TrainingHooks hooks;
  hooks.gradients = [](std::int64_t, std::vector<Tensor>& gradients) { gradients[2] = at::zeros_like(gradients[2]); };
  EXPECT_FALSE(all_true(mechanic::moves(bench.call(), hooks)));
}

TEST(Mechanics, OneBatchIsOverfittedUnlessGradientsAreLost) {
  const Bench bench("overfit", R"({"task": "mlp", "optimizer": "adamw", "lr": 0.01})");
  EXPECT_TRUE(all_true(bench.run("overfit")));
  TrainingHooks hooks;
  hooks.gradients = [](std::int64_t, std::vector<Tensor>& gradients) {
    for (Tensor& gradient : gradients) gradient = -gradient;
  };
  EXPECT_FALSE(all_true(mechanic::overfit(bench.call(), hooks)));
}

TEST(Mechanics, PartsAccumulateToTheWholeBatch) {
  const Bench bench("accumulation", R"({"parts": 4})");
  const Outputs good = bench.run("accumulation");
  EXPECT_TRUE(good[0].value.equal(good[2].value) && good[1].value.equal(good[3].value));
  int part = 0;
  const Outputs bad = mechanic::accumulation(bench.call(), [&](const Tensor& loss) {
    if (part++ != 2) loss.backward();
  });
  EXPECT_FALSE(bad[0].value.equal(bad[2].value));
}

TEST(Mechanics, ABatchIsItsSamples) {
  const Bench bench("batch_parts", R"({"parts": 16})");
  const Outputs good = bench.run("batch_parts");
  EXPECT_TRUE(good[0].value.equal(good[1].value));
  const Outputs bad = mechanic::batch_parts(bench.call(), [](const Tensor& x, const Tensor& w1, const Tensor& w2) {
    return at::linear(at::linear(x - x.mean(0, true), w1), w2);           // looks at its neighbours
  });
  EXPECT_FALSE(bad[0].value.equal(bad[1].value));
}

TEST(Mechanics, TheScalerSkipsAndHalves) {
  const Bench bench("scaler", R"({"interval": 2})");
  const Outputs good = bench.run("scaler");
  EXPECT_TRUE(good[0].value.equal(at::tensor({1024, 1024, 512, 512, 1024, 512}, at::kFloat))) << good[0].value;
  EXPECT_TRUE(good[1].value.equal(at::tensor({0, 1, 0, 0, 1}).to(at::kBool)));
  EXPECT_TRUE(good[2].value[1].equal(good[2].value[0])) << "a skipped step moves nothing";
  EXPECT_FALSE(good[2].value[2].equal(good[2].value[1]));
  const Outputs blind = mechanic::scaler(bench.call(), [](GradScaler& own, std::vector<Tensor>& gradients) {
    own.unscale(gradients);
    return true;
  });
  EXPECT_FALSE(blind[1].value.equal(good[1].value));
  EXPECT_FALSE(blind[2].value.equal(good[2].value));
}

TEST(Mechanics, CheckpointNeedsTheSavedState) {
  const Bench bench("checkpoint", R"({"dropout": 0.5})");
  EXPECT_TRUE(all_true(bench.run("checkpoint")));
  EXPECT_FALSE(all_true(mechanic::checkpoint(bench.call(), [](Generator&, const Tensor&) {})));
}

TEST(Mechanics, ResumeNeedsTheMoments) {
  const Bench bench("resume", R"({"dropout": 0.5})");
  EXPECT_TRUE(all_true(bench.run("resume")));
  EXPECT_FALSE(all_true(mechanic::resume(bench.call(), [](Optimizer& fresh, const std::vector<Tensor>&, std::int64_t steps) { fresh.resume(steps); })));
  EXPECT_FALSE(all_true(mechanic::resume(bench.call(), [](Optimizer& fresh, const std::vector<Tensor>& moments, std::int64_t) {
    for (std::size_t i = 0; i < moments.size(); ++i) fresh.state()[i].copy_(moments[i]);
  }))) << "and the count of steps";
}

TEST(Mechanics, GeneratorGoesBackWhereItWas) {
  const Bench bench("generator", R"({"samples": 64})");
  EXPECT_TRUE(all_true(bench.run("generator")));
  EXPECT_FALSE(all_true(mechanic::generator(bench.call(), [](Generator&, const Tensor&) {})));
}

TEST(Mechanics, AutocastIsAsDocumented) {
  for (const Policy policy : {Policy::amp_fp16, Policy::amp_bf16}) {
    const Bench bench("autocast", R"({"side": 8})", policy);
    EXPECT_TRUE(all_true(bench.run("autocast"))) << bench.run("autocast")[0].value;
    EXPECT_FALSE(all_true(mechanic::autocast(bench.call(), [](const std::function<Tensor()>& operation) { return operation().to(at::kFloat); })));
  }
}

}  // namespace
}  // namespace driftgate
