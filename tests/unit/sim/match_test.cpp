// Each condition: a call for which it holds, and one for which it does not.
#include <gtest/gtest.h>

#include "simulated.hpp"

namespace driftgate {
namespace {

// Whether a fault on `op` with this `when` acts in `run`.
template <class Run>
bool acts(const std::string& op, const std::string& when, Run run) {
  const PlantedFault fault(op, R"({"kind": "zero_output"})", when);
  run();
  return fault.activations() > 0;
}

at::Tensor ones(at::IntArrayRef sizes, at::ScalarType dtype = at::kFloat) { return on_sim(at::ones(sizes, at::TensorOptions().dtype(dtype))); }

template <class... Tensors>
auto exp_of(const Tensors&... tensors) {
  return [=] { (at::exp(tensors), ...); };
}

TEST(Match, OpIsAGlobOverNameAndOverload) {
  const at::Tensor x = ones({2});
  EXPECT_TRUE(acts("aten::exp", "{}", exp_of(x)));
  EXPECT_TRUE(acts("aten::mm|aten::exp.out", "{}", exp_of(x)));
  EXPECT_FALSE(acts("aten::exp2*", "{}", exp_of(x)));
  EXPECT_TRUE(acts("aten::add_.Tensor", "{}", [&] { ones({2}).add_(x); })) << "the caller that only passes it on";
  EXPECT_FALSE(acts("aten::add_.Tensor", "{}", [&] { ones({2}).add(x); }));
}

TEST(Match, LayoutOfTheOperand) {
  const at::Tensor whole = ones({4, 6}), columns = whole.t(), stepped = whole.slice(1, 0, 6, 2), later = whole.slice(0, 1), wide = ones({1, 6}).expand({4, 6});
  const auto holds = [](const char* layout, const at::Tensor& t) {
    return acts("aten::exp*", std::string(R"({"layout": ")") + layout + "\"}", exp_of(t));
  };
  EXPECT_TRUE(holds("noncontiguous", columns));
  EXPECT_FALSE(holds("noncontiguous", whole));
  EXPECT_TRUE(holds("contiguous", later));
  EXPECT_FALSE(holds("contiguous", stepped));
  EXPECT_TRUE(holds("stepped", stepped));
  EXPECT_FALSE(holds("stepped", columns));
  EXPECT_FALSE(holds("stepped", wide));
  EXPECT_TRUE(holds("offset", later));
  EXPECT_FALSE(holds("offset", columns));
  EXPECT_TRUE(holds("expanded", wide));
  EXPECT_FALSE(holds("expanded", stepped));
  EXPECT_TRUE(holds("channels_last", ones({2, 3, 4, 4}).contiguous(at::MemoryFormat::ChannelsLast)));
  EXPECT_FALSE(holds("channels_last", ones({2, 3, 4, 4})));
}

TEST(Match, SizesAndDtype) {
  const at::Tensor x = ones({3, 8});
  const auto holds = [&](const char* when) { return acts("aten::exp*", when, exp_of(x)); };
  EXPECT_TRUE(holds(R"({"size_at_least": {"dim": -1, "size": 8}, "size_at_most": {"dim": 0, "size": 3}, "size_equals": {"dim": 1, "size": 8}})"));
  EXPECT_FALSE(holds(R"({"size_at_least": {"dim": -1, "size": 9}})"));
  EXPECT_FALSE(holds(R"({"size_at_most": {"dim": -1, "size": 7}})"));
  EXPECT_FALSE(holds(R"({"size_equals": [{"dim": 0, "size": 3}, {"dim": 1, "size": 9}]})"));
  EXPECT_FALSE(holds(R"({"size_at_least": {"dim": 5, "size": 0}})")) << "there is no such dim";
  EXPECT_TRUE(holds(R"({"not_divisible": {"dim": 0, "size": 2}})"));
  EXPECT_FALSE(holds(R"({"not_divisible": {"dim": 1, "size": 4}})"));
  EXPECT_TRUE(holds(R"({"ndim_equals": 2, "ndim_at_least": 1, "min_numel": 24})"));
  EXPECT_FALSE(holds(R"({"min_numel": 25})"));
  EXPECT_TRUE(holds(R"({"dtype": ["f16", "f32"]})"));
  EXPECT_FALSE(holds(R"({"dtype": ["f16"]})"));
  EXPECT_TRUE(holds(R"({"relation": "rows_lt_cols"})"));
  EXPECT_FALSE(holds(R"({"relation": "square"})"));
}

TEST(Match, ValuesOfTheOperand) {
  const auto holds = [](const char* value, const std::vector<float>& values) {
    return acts("aten::exp*", std::string(R"({"value": )") + value + "}", exp_of(on_sim(at::tensor(values))));
  };
  EXPECT_TRUE(holds(R"("any_nan")", {1, NAN}));
  EXPECT_FALSE(holds(R"("any_nan")", {1, INFINITY}));
  EXPECT_TRUE(holds(R"("any_inf")", {1, INFINITY}));
  EXPECT_FALSE(holds(R"("any_inf")", {1, NAN}));
  EXPECT_TRUE(holds(R"("any_subnormal")", {1, 1e-40F}));
  EXPECT_FALSE(holds(R"("any_subnormal")", {1, 0}));
  EXPECT_TRUE(holds(R"("any_negative_zero")", {1, -0.0F}));
  EXPECT_FALSE(holds(R"("any_negative_zero")", {-1, 0}));
  EXPECT_TRUE(holds(R"("all_equal")", {2, 2}));
  EXPECT_FALSE(holds(R"("all_equal")", {2, 3}));
  EXPECT_TRUE(holds(R"({"any_above": 2.5})", {2, 3}));
  EXPECT_FALSE(holds(R"({"any_above": 3})", {2, 3}));
}

TEST(Match, WhatElseTheCallSays) {
  const at::Tensor x = ones({2, 2});
  EXPECT_TRUE(acts("aten::add*", R"({"inplace": true})", [&] { ones({2, 2}).add_(x); }));
  EXPECT_FALSE(acts("aten::add*", R"({"inplace": true})", [&] { x.add(x); }));
  EXPECT_TRUE(acts("aten::add*", R"({"mixed_dtype": true})", [&] { x.add(ones({2, 2}, at::kHalf)); }));
  EXPECT_FALSE(acts("aten::add*", R"({"mixed_dtype": true})", [&] { x.add(x); }));
  EXPECT_TRUE(acts("aten::add*", R"({"arg": 1, "arg_device": "cpu"})", [&] { x.add(at::scalar_tensor(1.0)); }));
  EXPECT_FALSE(acts("aten::add*", R"({"arg": 1, "arg_device": "cpu"})", [&] { x.add(x); }));
  EXPECT_TRUE(acts("aten::add*", R"({"attribute": {"name": "alpha", "equals": "nondefault"}})", [&] { x.add(x, 2); }));
  EXPECT_FALSE(acts("aten::add*", R"({"attribute": {"name": "alpha", "equals": "nondefault"}})", [&] { x.add(x); }));
  EXPECT_TRUE(acts("aten::sum*", R"({"attribute": {"name": "dim", "equals": [1]}})", [&] { x.sum(1); }));
  EXPECT_FALSE(acts("aten::sum*", R"({"attribute": {"name": "dim", "equals": [0]}})", [&] { x.sum(1); }));
  EXPECT_TRUE(acts("aten::native_layer_norm", R"({"arg": 2, "absent": true})", [&] { at::layer_norm(x, {2}); }));
  EXPECT_FALSE(acts("aten::native_layer_norm", R"({"arg": 2, "absent": true})", [&] { at::layer_norm(x, {2}, ones({2})); }));
}

TEST(Match, EnclosingCallsAndGradMode) {
  const auto backward = [] {
    at::Tensor x = ones({2, 2}).requires_grad_();
    x.mm(x).sum().backward();
  };
  EXPECT_TRUE(acts("aten::mm*", R"({"inside": "*Backward*"})", backward));
  EXPECT_TRUE(acts("aten::mm*", R"({"inside": "MmBackward0"})", backward));
  EXPECT_FALSE(acts("aten::mm*", R"({"inside": "*Backward*"})", [] { ones({2, 2}).mm(ones({2, 2})); }));
  EXPECT_TRUE(acts("aten::mm*", R"({"inside": "aten::matmul"})", [] { at::matmul(ones({2, 2}), ones({2, 2})); }));
  EXPECT_FALSE(acts("aten::mm*", R"({"inside": "aten::mm"})", [] { ones({2, 2}).mm(ones({2, 2})); })) << "it is not inside of itself";
  const auto without_grad = [] {
    const at::NoGradGuard guard;
    ones({2, 2}).mm(ones({2, 2}));
  };
  EXPECT_TRUE(acts("aten::mm*", R"({"grad_mode": "off"})", without_grad));
  EXPECT_FALSE(acts("aten::mm*", R"({"grad_mode": "on"})", without_grad));
}

TEST(Match, EarlierCalls) {
  const at::Tensor x = ones({2}), longer = ones({3});
  const auto activations = [](const char* when, const auto& run) {
    const PlantedFault fault("aten::exp*", R"({"kind": "zero_output"})", when);
    run();
    return fault.activations();
  };
  EXPECT_EQ(activations(R"({"call": {"nth": 2}})", exp_of(x, x, x, x)), 1);
  EXPECT_EQ(activations(R"({"call": {"every": 2}})", exp_of(x, x, x, x)), 2);
  EXPECT_EQ(activations(R"({"call": {"nth": 5}})", exp_of(x, x, x, x)), 0);
  EXPECT_EQ(activations(R"({"new_shape": true})", exp_of(x, x, longer, longer)), 2);
  EXPECT_EQ(activations(R"({"after_op": "aten::sin*"})", exp_of(x, x)), 0);
  EXPECT_EQ(activations(R"({"after_op": "aten::sin*"})", [&] { at::exp(x), at::sin(x), at::exp(x); }), 1);
}

}  // namespace
}  // namespace driftgate
