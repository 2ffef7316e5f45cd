#include "training/mechanics.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include "error.hpp"
#include "device/autocast.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kSteps = 3, kRows = 12, kColumns = 20, kFlat = 7;     // of the optimizer's parameters
constexpr std::int64_t kBatch = 16;

}  // namespace

namespace mechanic {
namespace {

constexpr std::int64_t kOverfitSteps = 100;
constexpr double kRoundings = 8 * 0x1p-24, kGap = 7, kOverfit = 0.1;

enum class Documented : std::uint8_t { low, fp32, follows };

struct Listed {
  const char* name;
  bool low_input;                                       // else fp32
  Documented cpu, cuda, mps;
  std::function<Tensor(const Tensor& matrix)> call;
};

// docs/source/amp.md of PyTorch 2.11 and its autocast_mode.cpp, by device type.
std::vector<Listed> listed() {
  using enum Documented;
  return {{"mm", false, low, low, low, [](const Tensor& x) { return at::mm(x, x); }},
          {"addmm", false, low, low, low, [](const Tensor& x) { return at::addmm(x, x, x); }},
          {"bmm", false, low, low, low, [](const Tensor& x) { return at::bmm(x.unsqueeze(0), x.unsqueeze(0)); }},
          {"linear", false, low, low, low, [](const Tensor& x) { return at::linear(x, x); }},
          {"conv2d", false, low, low, low, [](const Tensor& x) { return at::conv2d(x.unsqueeze(0).unsqueeze(0), x.unsqueeze(0).unsqueeze(0).slice(2, 0, 3).slice(3, 0, 3)); }},
          {"attention", false, low, low, low,
           [](const Tensor& x) { const Tensor q = x.unsqueeze(0).unsqueeze(0); return at::scaled_dot_product_attention(q, q, q); }},
          {"softmax", true, follows, fp32, fp32, [](const Tensor& x) { return at::softmax(x, -1); }},
          {"exp", true, follows, fp32, fp32, [](const Tensor& x) { return at::exp(x); }},
          {"sum", true, follows, fp32, fp32, [](const Tensor& x) { return at::sum(x); }},
          {"layer_norm", true, follows, fp32, fp32, [](const Tensor& x) { return at::layer_norm(x, {x.size(-1)}); }},
          {"mse_loss", true, fp32, fp32, fp32, [](const Tensor& x) { return at::mse_loss(x, x * 2); }},
          {"relu", true, follows, follows, follows, [](const Tensor& x) { return at::relu(x); }},
          {"add", true, follows, follows, follows, [](const Tensor& x) { return at::add(x, x); }}};
}

Documented documented(const Listed& entry, c10::DeviceType device) {
  if (device == c10::kCUDA) return entry.cuda;
  if (device == c10::kMPS) return entry.mps;
  TORCH_CHECK_NOT_IMPLEMENTED(device == c10::kCPU, "autocast of this device is documented nowhere");
  return entry.cpu;
}

struct Placed {
  Tensor parent, parameter;                             // the parent is undefined where the parameter has no gaps
};

// A fused operator wants its tensors dense, so its parameter is a transposed one; the others also get every second element of a parent.
Placed place(const Tensor& values, bool dense) {
  if (dense) {
    Tensor transposed = at::empty({kColumns, kRows}, values.options()).t();
    transposed.copy_(values);
    return {{}, transposed};
  }
  Tensor parent = at::full({kColumns, 2 * kRows}, kGap, values.options());
  Tensor view = parent.slice(1, 0, 2 * kRows, 2).t();
  view.copy_(values);
  return {parent, view};
}

std::vector<Tensor> gradients_of(const ProgramCall& call, std::int64_t step, const std::vector<Tensor>& like) {
  std::vector<Tensor> gradients;
  for (std::size_t i = 0; i < like.size(); ++i)
    gradients.push_back(at::empty_like(like[i]).copy_(call.inputs.at("gradient" + std::to_string(i)).select(0, step)));
  return gradients;
}

Tensor all_of(const std::vector<bool>& truths) {
  Tensor tensor = at::empty({static_cast<std::int64_t>(truths.size())}, c10::kBool);
  for (std::size_t i = 0; i < truths.size(); ++i) static_cast<bool*>(tensor.mutable_data_ptr())[i] = truths[i];
  return tensor;
}

const TrainingTask& task_of(const ProgramCall& call) {
  ObjectReader settings(call.settings, call.where);
  return find_task("training::" + settings.string("task"));
}

}  // namespace

Outputs optimizer(const ProgramCall& call, const Step& step) {
  const c10::NoGradGuard no_grad;
  ObjectReader settings(call.settings, call.where);
  const OptimizerSettings form = read_optimizer(settings);
  OptimizerSettings plain = form;
  plain.form = OptimizerForm::plain;
  const Placed placed = place(call.inputs.at("parameter0"), form.form == OptimizerForm::fused);
  const std::vector<Tensor> parameters = {placed.parameter, call.inputs.at("parameter1").clone()};
  std::vector<Tensor> start, truth;
  for (const Tensor& parameter : parameters) {
    start.push_back(parameter.to(c10::kCPU).to(c10::kDouble).clone());
    truth.push_back(start.back().clone());
  }
  Optimizer tested(form, parameters), exact(plain, truth);
  for (std::int64_t s = 0; s < kSteps; ++s) {
    const std::vector<Tensor> gradients = gradients_of(call, s, parameters);
    std::vector<Tensor> wide;
    for (const Tensor& gradient : gradients) wide.push_back(gradient.to(c10::kCPU).to(c10::kDouble));
    step(tested, gradients);
    exact.step(wide);
  }
  std::vector<bool> within, moved;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Tensor now = parameters[i].to(c10::kCPU).to(c10::kDouble), way = (truth[i] - start[i]).abs();
    within.push_back(((now - truth[i]).abs() <= (truth[i].abs() + way) * (kRoundings * kSteps)).all().item<bool>());
    moved.push_back((now != start[i]).all().item<bool>());
  }
  const bool gap = !placed.parent.defined() || (placed.parent.slice(1, 1, 2 * kRows, 2) == kGap).all().item<bool>();
  return {{"within", all_of(within)}, {"moved", all_of(moved)}, {"gap", all_of({gap})}};
}

Outputs moves(const ProgramCall& call, const TrainingHooks& hooks) {
  std::vector<bool> moved;
  TrainingHooks one = hooks;
  one.steps = 1;
  one.updated = [&](std::int64_t step, std::vector<Tensor>& parameters) {
    if (hooks.updated) hooks.updated(step, parameters);
    std::size_t at = 0;
    for (const ProgramInput& input : call.declared)
      if (input.parameter) moved.push_back((parameters[at++].detach() != call.inputs.at(input.name)).any().item<bool>());
  };
  train(task_of(call), call, one);
  return {{"moved", all_of(moved)}};
}

Outputs overfit(const ProgramCall& call, const TrainingHooks& hooks) {
  Tensors first;
  TrainingHooks same = hooks;
  same.steps = kOverfitSteps;
  same.batch = [&](std::int64_t step, Tensors& batch) {
    if (step == 0) first = batch;
    batch = first;
  };
  const Tensor losses = train(task_of(call), call, same).front().value.to(c10::kCPU).to(c10::kDouble);
  return {{"overfit", all_of({losses[-1].item<double>() < kOverfit * losses[0].item<double>()})}};
}

Outputs autocast(const ProgramCall& call, const Run& run) {
  const c10::NoGradGuard no_grad;
  const c10::ScalarType low = call.policy == Policy::amp_fp16 ? c10::kHalf : c10::kBFloat16;
  const Tensor x = call.inputs.at("x").to(c10::kFloat), narrow = x.to(low);
  std::vector<bool> as_documented;
  for (const Listed& entry : listed()) {
    const Documented due = documented(entry, call.device.type());
    const Tensor& given = entry.low_input ? narrow : x;
    const Tensor result = run([&] {
      const Autocast region(call.device.type(), call.policy);
      return entry.call(given);
    });
    const c10::ScalarType expected = due == Documented::low ? low : due == Documented::fp32 ? c10::kFloat : given.scalar_type();
    as_documented.push_back(result.scalar_type() == expected);
  }
  return {{"documented", all_of(as_documented)}};
}

}  // namespace mechanic

namespace {

using mechanic::Tensor;

std::vector<ProgramInput> optimizer_inputs(ObjectReader& settings) {
  read_optimizer(settings);
  return {data("parameter0", {kRows, kColumns}), data("parameter1", {kFlat}), data("gradient0", {kSteps, kRows, kColumns}), data("gradient1", {kSteps, kFlat})};
}

std::vector<ProgramInput> task_inputs(ObjectReader& settings) {
  read_optimizer(settings);
  return find_task("training::" + settings.string("task")).inputs();
}

std::vector<ProgramInput> whole_net(ObjectReader& settings) {
  if (const std::int64_t parts = settings.integer("parts"); parts < 1 || parts > kBatch) throw Error("bad_value", settings.where("parts"), "from 1 to 16 parts");
  return {data("x", {kBatch, 6}, "integers(low=-2, high=2)"), data("target", {kBatch, 3}, "integers(low=-3, high=3)"), data("w1", {5, 6}, "integers(low=-1, high=1)"),
          data("w2", {3, 5}, "integers(low=-1, high=1)")};
}

std::vector<ProgramInput> scaler_inputs(ObjectReader& settings) {
  settings.integer("interval");
  return {data("parameter", {4}, "integers(low=-8, high=8)"), data("gradients", {5, 4}, "integers(low=1, high=8)")};
}

std::vector<ProgramInput> block_inputs(ObjectReader& settings) {
  if (const double rate = settings.real("dropout"); !(rate > 0 && rate < 1)) throw Error("bad_value", settings.where("dropout"), "a rate lies between 0 and 1");
  return {data("x", {32, 16}), data("target", {32, 8}), data("w1", {24, 16}, "normal(scale=0.25)"), data("w2", {8, 24}, "normal(scale=0.2)")};
}

std::vector<ProgramInput> samples(ObjectReader& settings) { return {data("x", {settings.integer("samples")})}; }

std::vector<ProgramInput> matrix(ObjectReader& settings) {
  const std::int64_t side = settings.integer("side");
  if (side < 3) throw Error("bad_value", settings.where("side"), "a side of 3 at least");
  return {data("x", {side, side})};
}

}  // namespace

std::vector<Program> mechanics() {
  using namespace mechanic;
  const Restore restore = [](Generator& own, const Tensor& state) { own.set_state(state); };
  const auto net = [](const Tensor& x, const Tensor& w1, const Tensor& w2) { return at::linear(at::relu(at::linear(x, w1)), w2); };
  const Reload reload = [](Optimizer& fresh, const std::vector<Tensor>& moments, std::int64_t steps) {
    for (std::size_t i = 0; i < moments.size(); ++i) fresh.state()[i].copy_(moments[i]);
    fresh.resume(steps);
  };
  return {{"training::optimizer", optimizer_inputs,
           [](const ProgramCall& call) { return optimizer(call, [](Optimizer& own, const std::vector<Tensor>& gradients) { own.step(gradients); }); }},
          {"training::moves", task_inputs, [](const ProgramCall& call) { return moves(call, {}); }},
          {"training::overfit", task_inputs, [](const ProgramCall& call) { return overfit(call, {}); }},
          {"training::accumulation", whole_net, [](const ProgramCall& call) { return accumulation(call, [](const Tensor& loss) { loss.backward(); }); }},
          {"training::batch_parts", whole_net, [net](const ProgramCall& call) { return batch_parts(call, net); }},
          {"training::scaler", scaler_inputs,
           [](const ProgramCall& call) { return scaler(call, [](GradScaler& own, std::vector<Tensor>& gradients) { return own.unscale(gradients); }); }},
          {"training::checkpoint", block_inputs, [restore](const ProgramCall& call) { return checkpoint(call, restore); }},
          {"training::resume", block_inputs, [reload](const ProgramCall& call) { return resume(call, reload); }},
          {"training::generator", samples, [restore](const ProgramCall& call) { return generator(call, restore); }},
          {"training::autocast", matrix, [](const ProgramCall& call) { return autocast(call, [](const std::function<Tensor()>& operation) { return operation(); }); }}};
}

}  // namespace driftgate
