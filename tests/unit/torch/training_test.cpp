// The training gate on the CPU: honest runs stay within an ensemble made here, every planted fault leaves it.
#include <gtest/gtest.h>

#include <ATen/ATen.h>

#include "device/torch_types.hpp"
#include "inline_suite.hpp"
#include "run/ensemble_case.hpp"
#include "run/golden_export.hpp"
#include "run/runner.hpp"
#include "training/loop.hpp"
#include "training/members.hpp"

namespace driftgate {
namespace {

constexpr double kLimit = 20;
constexpr auto kBound = static_cast<std::size_t>(Bound::ensemble);

// One case with its inputs and the ensemble of four runs: enough to see round-off, few enough for a test.
class Gate {
 public:
  Gate(const std::string& task, const std::string& settings, const std::string& policy)
      : suite_(inline_suite(R"({"family": "training", "ops": ["training::)" + task + R"("], "bound": "ensemble", "policies": [")" + policy +
                            R"("], "directions": ["backward"], "cases": {"run": )" + settings + "}}")),
        task_(find_task("training::" + task)),
        prepared_(prepare_program(suite_.find("training." + task + "/run/" + policy + "/backward/canonical"))) {
    std::vector<std::vector<std::vector<double>>> runs;
    for (std::uint32_t member = 0; member < 4; ++member) {
      const auto outputs = run_member(member);
      runs.resize(outputs.size());
      for (std::size_t i = 0; i < outputs.size(); ++i) runs[i].push_back(outputs[i]);
    }
    const Observation plain = run_program(prepared_, Device::cpu);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      names_.push_back(plain.outputs[i].name);
      steps_.push_back(static_cast<std::size_t>(plain.outputs[i].value.shape.back()));
      ensembles_.push_back(summarise(runs[i], steps_[i]));
    }
  }

  // The largest `required` of all trajectories.
  double required(const TrainingHooks& hooks = {}, std::uint32_t member = 0, bool reference = false) const {
    const std::vector<std::vector<double>> outputs = run(member_of(prepared_, member), hooks, reference);
    double largest = 0;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (names_[i] != "held_out")
        largest = std::max(largest, compare_trajectory(outputs[i], ensembles_[i], steps_[i], ensemble_floor(prepared_.source.policy)).required);
    return largest;
  }

 private:
  std::vector<std::vector<double>> run_member(std::uint32_t member) const { return run(member_of(prepared_, member), {}, false); }

  std::vector<std::vector<double>> run(const PreparedProgram& prepared, const TrainingHooks& hooks, bool reference) const {
    Tensors inputs;
    for (const PreparedInput& input : prepared.inputs) inputs[input.name] = reference ? to_double_tensor(input.buffer) : to_tensor(input.buffer);
    const ProgramCall call{inputs, prepared.declared, prepared.settings, prepared.where, prepared.source.policy, Direction::backward, c10::Device(c10::kCPU), reference};
    std::vector<std::vector<double>> values;
    for (const NamedTensor& output : train(task_, call, hooks)) values.push_back(to_doubles(to_buffer(output.value)));
    return values;
  }

  Suite suite_;
  const TrainingTask& task_;
  PreparedProgram prepared_;
  std::vector<std::string> names_;
  std::vector<std::size_t> steps_;
  std::vector<Ensemble> ensembles_;
};

const Gate& fp32() {
  static const Gate gate("mlp", R"({"optimizer": "adamw", "lr": 0.003, "weight_decay": 0.01})", "fp32");
  return gate;
}

const Gate& amp() {
  static const Gate gate("mlp", R"({"optimizer": "adamw", "lr": 0.003, "weight_decay": 0.01})", "amp_fp16");
  return gate;
}

using Gradients = std::vector<at::Tensor>;

TEST(TrainingGate, HonestRunsPass) {
  EXPECT_LE(fp32().required(), kLimit);
  EXPECT_LE(fp32().required({}, 40), kLimit) << "another start and order";
  EXPECT_LE(fp32().required({}, 0, true), kLimit) << "fp64 in place of fp32";
  EXPECT_LE(amp().required({}, 41), kLimit);
}

TEST(TrainingGate, OneLayersGradientOffByAPercent) {
  TrainingHooks hooks;
  hooks.gradients = [](std::int64_t, Gradients& g) { g[2].mul_(1.01); };
  EXPECT_GT(fp32().required(hooks), kLimit);
}

TEST(TrainingGate, GradientsRoundedToBf16) {
  TrainingHooks hooks;
  hooks.gradients = [](std::int64_t, Gradients& g) { g[2] = g[2].to(at::kBFloat16).to(at::kFloat); };
  EXPECT_GT(fp32().required(hooks), kLimit) << "of one layer alone";
}

TEST(TrainingGate, LostOptimizerWrites) {
  at::Tensor kept;
  TrainingHooks hooks;
  hooks.updated = [&](std::int64_t step, Gradients& parameters) {
    if (step == 49) kept = parameters[2].detach().clone();
    if (step == 50) parameters[2].detach().copy_(kept);
  };
  EXPECT_GT(fp32().required(hooks), kLimit) << "one write of one parameter at one step";
}

TEST(TrainingGate, FrozenDropoutMask) {
  at::Tensor mask;
  TrainingHooks hooks;
  hooks.batch = [&](std::int64_t step, Tensors& batch) {
    if (step == 0) mask = batch["mask"];
    batch["mask"] = mask;
  };
  EXPECT_GT(fp32().required(hooks), kLimit);
}

TEST(TrainingGate, StaleBatchEveryTwentySteps) {
  Tensors before;
  TrainingHooks hooks;
  hooks.batch = [&](std::int64_t step, Tensors& batch) {
    Tensors now = batch;
    if (step % 20 == 19) batch = before;
    before = std::move(now);
  };
  EXPECT_GT(fp32().required(hooks), kLimit);
}

TEST(TrainingGate, UnscaleThatReadsTheWrongDtype) {
  TrainingHooks hooks;
  hooks.unscale = [](GradScaler& scaler, Gradients& gradients) {
    const bool finite = scaler.unscale(gradients);
    for (at::Tensor& g : gradients) g = g.contiguous().view(at::kHalf).slice(-1, 0, g.size(-1)).to(at::kFloat);
    return finite;
  };
  EXPECT_GT(amp().required(hooks), kLimit);
}

TEST(TrainingGate, SkippedFoundInf) {
  TrainingHooks hooks;
  hooks.unscale = [](GradScaler& scaler, Gradients& gradients) {
    scaler.unscale(gradients);
    return true;
  };
  EXPECT_GT(amp().required(hooks), kLimit);
}

TEST(TrainingGate, MembersDifferByRoundOffAlone) {
  const Suite suite = inline_suite(R"({"family": "training", "ops": ["training::mlp"], "bound": "ensemble", "policies": ["fp32"], "directions": ["backward"],
                                       "cases": {"run": {"optimizer": "sgd", "lr": 0.1}}})");
  const PreparedProgram prepared = prepare_program(suite.find("training.mlp/run/fp32/backward/canonical"));
  const PreparedProgram same = member_of(prepared, 0), moved = member_of(prepared, 1);
  for (std::size_t i = 0; i < prepared.inputs.size(); ++i) {
    const PreparedInput &before = prepared.inputs[i], &after = moved.inputs[i];
    EXPECT_EQ(same.inputs[i].buffer.bytes, before.buffer.bytes) << before.name;
    const bool touched = before.differentiable || before.name.starts_with("batch.");
    EXPECT_EQ(after.buffer.bytes != before.buffer.bytes, touched) << before.name;
    if (!before.differentiable) continue;
    const std::vector<double> a = to_doubles(before.buffer), b = to_doubles(after.buffer);
    for (std::size_t e = 0; e < a.size(); ++e) EXPECT_LE(std::abs(a[e] - b[e]), std::abs(a[e]) * 0x1p-22) << before.name;
  }
}

}  // namespace
}  // namespace driftgate
