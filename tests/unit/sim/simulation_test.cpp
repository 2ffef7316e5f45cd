// The sound device: the same results as the CPU, in the same memory.
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include "../torch/inline_suite.hpp"
#include "run/runner.hpp"
#include "simulated.hpp"

namespace driftgate {
namespace {

void expect_equal(const at::Tensor& device, const at::Tensor& cpu) {
  EXPECT_EQ(device.device().type(), c10::kPrivateUse1);
  EXPECT_TRUE(at::equal(device.cpu(), cpu)) << device.cpu() << cpu;
}

at::Tensor ramp(at::IntArrayRef sizes) { return at::arange(c10::multiply_integers(sizes), at::kFloat).view(sizes).div(7).sin(); }

TEST(Simulation, ComputesAsTheCpuDoes) {
  const at::Tensor a = ramp({5, 6}), b = ramp({6, 7});
  expect_equal(on_sim(a).mm(on_sim(b)), a.mm(b));
  expect_equal(at::gelu(on_sim(a)), at::gelu(a));
  expect_equal(std::get<0>(on_sim(a).sort(1)), std::get<0>(a.sort(1)));
  expect_equal(at::layer_norm(on_sim(a), {6}), at::layer_norm(a, {6}));
  expect_equal(at::conv2d(on_sim(ramp({1, 2, 5, 5})), on_sim(ramp({3, 2, 3, 3}))), at::conv2d(ramp({1, 2, 5, 5}), ramp({3, 2, 3, 3})));
}

TEST(Simulation, AViewIsAViewOfTheSameMemory) {
  at::Tensor parent = on_sim(ramp({4, 6}));
  at::Tensor view = parent.t().slice(0, 1, 6, 2);
  EXPECT_TRUE(view.is_alias_of(parent));
  view.add_(10);
  at::Tensor expected = ramp({4, 6});
  expected.t().slice(0, 1, 6, 2).add_(10);
  expect_equal(parent, expected);
}

TEST(Simulation, AnOutIsResizedInPlace) {
  at::Tensor out = at::empty({0}, at::TensorOptions().device(sim()));
  at::mm_out(out, on_sim(ramp({3, 4})), on_sim(ramp({4, 2})));
  expect_equal(out, ramp({3, 4}).mm(ramp({4, 2})));
  out.resize_({2});
  EXPECT_EQ(out.numel(), 2);
}

TEST(Simulation, ConjugatesAndCpuScalarsArrive) {
  const at::Tensor z = at::complex(ramp({3, 3}), ramp({3, 3}).flip(0));
  expect_equal(on_sim(z).conj().mm(on_sim(z)), z.conj().mm(z));
  expect_equal(on_sim(ramp({3})) * at::scalar_tensor(2.0), ramp({3}) * 2);
}

TEST(Simulation, BackwardReachesEveryLeaf) {
  const auto gradient = [](const c10::Device& device) {
    at::Tensor x = ramp({4, 6}).to(device).requires_grad_(), w = ramp({3, 6}).to(device).requires_grad_();
    const at::Tensor y = at::linear(x, w).tanh().sum();
    return torch::autograd::grad({y}, {x, w});
  };
  const auto device = gradient(sim()), cpu = gradient(c10::Device(c10::kCPU));
  EXPECT_TRUE(at::allclose(device[0].cpu(), cpu[0]));
  EXPECT_TRUE(at::allclose(device[1].cpu(), cpu[1]));
}

TEST(Simulation, RecurrentCellsAreThoseOfTheCpu) {
  const auto run = [](const c10::Device& device) {
    std::vector<at::Tensor> weights;
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{12, 4}, {12, 3}, {12}, {12}})
      weights.push_back(ramp(shape).to(device).requires_grad_());
    const at::Tensor x = ramp({5, 2, 4}).to(device).requires_grad_(), h = at::zeros({1, 2, 3}).to(device);
    const at::Tensor lstm = std::get<0>(at::lstm(x, {h, h}, weights, true, 1, 0.0, false, false, false));
    std::vector<at::Tensor> short_weights;
    for (const at::Tensor& weight : weights) short_weights.push_back(weight.slice(0, 0, 9));
    const at::Tensor gru = std::get<0>(at::gru(x, h, short_weights, true, 1, 0.0, false, false, false));
    std::vector<at::Tensor> all = torch::autograd::grad({lstm.sum() + gru.square().sum()}, {x, weights[0], weights[1], weights[2], weights[3]});
    all.insert(all.end(), {lstm, gru});
    return all;
  };
  const auto device = run(sim()), cpu = run(c10::Device(c10::kCPU));
  for (std::size_t i = 0; i < cpu.size(); ++i) EXPECT_TRUE(at::allclose(device[i].cpu(), cpu[i], 1e-5, 1e-6)) << i;
}

TEST(Simulation, SeedsRepeatAndTheCpuIsLeftAlone) {
  sim();
  at::manual_seed(5);
  const at::Tensor cpu = at::rand({4});
  at::manual_seed(5);
  const at::Tensor first = at::rand({4}, at::TensorOptions().device(sim())), second = at::rand({4}, at::TensorOptions().device(sim()));
  EXPECT_TRUE(at::equal(at::rand({4}), cpu)) << "drawing on the device must not advance the CPU";
  at::manual_seed(5);
  EXPECT_TRUE(at::equal(at::rand({4}, at::TensorOptions().device(sim())).cpu(), first.cpu()));
  EXPECT_FALSE(at::equal(first.cpu(), second.cpu()));
}

TEST(Simulation, FreedMemoryComesBackAsItWasLeft) {
  sim();
  plant({});
  { at::Tensor full = at::full({100}, 3.5F, at::TensorOptions().device(sim())); }
  const at::Tensor reused = at::empty({100}, at::TensorOptions().device(sim()));
  EXPECT_EQ(reused.cpu()[50].item<float>(), 3.5F);
  plant({});
  EXPECT_EQ(at::empty({5000}, at::TensorOptions().device(sim())).cpu().abs().sum().item<float>(), 0.0F);
}

TEST(Simulation, AnOperandOfTheHostStaysThere) {
  sim();
  const auto stage = [](const std::string& host) {
    const Suite suite = inline_suite(R"({"family": "binary", "ops": ["aten::mul.Tensor"], "bound": "pointwise", "policies": ["fp32"], "directions": ["forward"],
        "host": [)" + host + R"(], "cases": {"a": {"self": {"shape": [3, 4], "fill": "normal"}, "other": {"shape": [4], "fill": "normal"}}}})");
    return Runner(Device::sim, nullptr).run(suite.find("mul.Tensor/a/fp32/forward/canonical")).stage;
  };
  EXPECT_EQ(stage(""), "done");
  EXPECT_EQ(stage(R"("other")"), "raised") << "a vector of the host is not an operand of the device";
}

}  // namespace
}  // namespace driftgate
