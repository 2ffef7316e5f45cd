// The kernels of the Metal-like profiles: each family differs from the CPU somewhere and stays within the limit of its row.
#include "sim/profile.hpp"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "error.hpp"
#include "json.hpp"
#include "sim/metal_math.hpp"

namespace driftgate {
namespace {

constexpr double u = 0x1p-24;
using Stack = torch::jit::Stack;
using Sizes = std::vector<std::int64_t>;

double limit_of(const std::string& row) {
  for (const char* file : {"pointwise", "linear", "general", "special"}) {
    const Json table = read_json(std::filesystem::path(DRIFTGATE_SOURCE_DIR) / "tolerances" / (std::string(file) + ".json"));
    for (const Json& entry : table.at("rows"))
      if (entry.at("row") == row) return entry.at("limit").get<double>();
  }
  throw std::runtime_error("no row " + row);
}

Profile metal(const std::string& name = "metal_spec", const std::string& winograd = "none", bool onepass = false) {
  return make_profile({name, onepass, winograd});
}

at::Tensor wave(at::IntArrayRef sizes, double step = 0.7, double shift = 0) {
  return at::arange(c10::multiply_integers(sizes), at::kDouble).mul(step).sin().add(shift).view(sizes).to(at::kFloat);
}

at::Tensor run(const Profile& profile, const std::string& name, const char* overload, Stack stack) {
  profile.kernels.at(name)(c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload), stack);
  return stack.at(0).toTensor();
}

at::Tensor on_cpu(const std::string& name, const char* overload, Stack stack, bool wide) {
  if (wide)
    for (c10::IValue& value : stack)
      if (value.isTensor() && value.toTensor().is_floating_point()) value = value.toTensor().to(at::kDouble);
  c10::Dispatcher::singleton().findSchemaOrThrow(name.c_str(), overload).callBoxed(&stack);
  return stack.at(0).toTensor();
}

double required(const at::Tensor& result, const at::Tensor& reference, const at::Tensor& unit) {
  const at::Tensor excess = (result.to(at::kDouble) - reference).abs() - reference.abs() * u - 0x1p-126;
  return excess.clamp_min(0).div(unit.clamp_min(1e-300)).max().item<double>();
}

at::Tensor linear_unit(const at::Tensor& reference, const at::Tensor& of_squares, double terms) {
  return (reference.square() + of_squares).sqrt() * (u * std::sqrt(terms));
}

void expect_pointwise(const char* name, const at::Tensor& x, const std::string& row, double allowed = 0) {
  const at::Tensor result = run(metal(), name, "", {x}), reference = on_cpu(name, "", {x}, true);
  const at::Tensor moved = (on_cpu(name, "", {x.to(at::kDouble) * (1 + u)}, true) - reference).abs();
  const at::Tensor unit = (moved.square() + (reference * u).square()).sqrt();
  const at::Tensor error = (result.to(at::kDouble) - reference).abs().sub(allowed * u).clamp_min(0);
  EXPECT_LE(required(reference + error, reference, unit), limit_of(row)) << name;
  EXPECT_FALSE(at::equal(result, on_cpu(name, "", {x}, false))) << name;
}

TEST(MetalProfile, FunctionsAreWrongWithinTheirRows) {
  const at::Tensor x = at::arange(1, 4001, at::kFloat).div(1000);
  for (const char* name : {"aten::exp", "aten::log", "aten::log2", "aten::log10", "aten::sin", "aten::cos", "aten::atan", "aten::sinh",
                           "aten::cosh", "aten::tanh", "aten::erf", "aten::erfc", "aten::log1p", "aten::sigmoid"})
    expect_pointwise(name, x, "unary.pointwise.forward.fp32");
  for (const char* name : {"aten::tan", "aten::asin", "aten::acos"}) expect_pointwise(name, x.div(4.1), "unary.pointwise.forward.fp32");
  expect_pointwise("aten::exp2", x, "pow_exp2.fp32");
  expect_pointwise("aten::expm1", x, "expm1.fp32", 10);
  expect_pointwise("aten::asinh", x, "asinh_atanh.fp32", 10);
  expect_pointwise("aten::silu", x, "activation.pointwise.forward.fp32");
}

TEST(MetalProfile, FunctionsStayWithinTheSpecificationsUlps) {
  const MetalMath mild(MetalMath::Errors::mild), spec(MetalMath::Errors::spec);
  double worst_mild = 0, worst_spec = 0;
  for (float x = 0.1f; x < 20; x += 0.01f) {
    const double exact = std::exp(double{x}), ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
    worst_mild = std::max(worst_mild, std::fabs(mild.exp(x) - exact) / ulp);
    worst_spec = std::max(worst_spec, std::fabs(spec.exp(x) - exact) / ulp);
  }
  EXPECT_LE(worst_mild, 2);
  EXPECT_LE(worst_spec, 4);
  EXPECT_GT(worst_spec, 3);
  EXPECT_EQ(spec.exp(0), 1);
  EXPECT_EQ(spec.log(1), 0);
  EXPECT_EQ(spec.exp(-INFINITY), 0);
  EXPECT_TRUE(std::isnan(spec.sin(INFINITY)));
}

TEST(MetalProfile, AFunctionRoundsOnceInHalves) {
  const at::Tensor x = at::arange(-200, 200, at::kFloat).div(64);
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16}) {
    const at::Tensor result = run(metal(), "aten::tanh", "", {x.to(type)}), reference = x.to(type).to(at::kDouble).tanh();
    EXPECT_EQ(result.scalar_type(), type);
    EXPECT_LE((result.to(at::kDouble) - reference).abs().max().item<double>(), type == at::kHalf ? 0x1.01p-12 : 0x1.01p-9);
  }
}

TEST(MetalProfile, SumsAndProductsKeepFp32) {
  const at::Tensor x = wave({8, 1000}), y = wave({1000, 12}, 0.3);
  const at::Tensor sums = run(metal(), "aten::sum", "dim_IntList", {x, Sizes{1}, false, c10::IValue()});
  const at::Tensor wide = x.to(at::kDouble);
  const double limit = limit_of("matmul.linear.forward.fp32");
  EXPECT_LE(required(sums, wide.sum(1), linear_unit(wide.sum(1), wide.square().sum(1), 1000)), limit);
  EXPECT_FALSE(at::equal(sums, x.sum(1)));
  const at::Tensor reference = wide.mm(y.to(at::kDouble)), unit = linear_unit(reference, wide.square().mm(y.to(at::kDouble).square()), 1000);
  EXPECT_LE(required(run(metal(), "aten::mm", "", {x, y}), reference, unit), limit);
  EXPECT_FALSE(at::equal(run(metal(), "aten::mm", "", {x, y}), x.mm(y)));
  EXPECT_GT(required(run(metal("metal_m5_tf32"), "aten::mm", "", {x, y}), reference, unit), 20 * limit) << "a TF32 product must not pass as fp32";
}

Stack convolution(const at::Tensor& x, const at::Tensor& w, Sizes stride, Sizes padding, Sizes dilation, bool transposed, Sizes extra, std::int64_t groups) {
  return {x, w, c10::IValue(), stride, padding, dilation, transposed, extra, groups};
}

void expect_convolution(const Stack& call, double terms, const Profile& profile, double limit) {
  Stack squares = call;
  squares[0] = call[0].toTensor().square();
  squares[1] = call[1].toTensor().square();
  const at::Tensor reference = on_cpu("aten::convolution", "", call, true);
  const at::Tensor unit = linear_unit(reference, on_cpu("aten::convolution", "", squares, true), terms);
  const at::Tensor result = run(profile, "aten::convolution", "", call);
  EXPECT_EQ(result.sizes(), reference.sizes());
  EXPECT_LE(required(result, reference, unit), limit);
  EXPECT_GT(required(run(metal("metal_m5_tf32"), "aten::convolution", "", call), reference, unit), limit);
}

TEST(MetalProfile, ConvolutionsOfEveryGeometry) {
  const double limit = limit_of("convolution.linear.forward.fp32");
  expect_convolution(convolution(wave({2, 8, 9, 12}), wave({12, 4, 3, 2}, 0.3), {2, 1}, {2, 1}, {1, 2}, false, {0, 0}, 2), 24, metal(), limit);
  expect_convolution(convolution(wave({2, 6, 9}), wave({6, 4, 3}, 0.3), {2}, {1}, {1}, true, {1}, 2), 9, metal(), limit);
  expect_convolution(convolution(wave({1, 4, 5, 5, 5}), wave({6, 4, 2, 3, 2}, 0.3), {1, 2, 1}, {0, 1, 1}, {1, 1, 2}, false, {0, 0, 0}, 1), 48, metal(), limit);
}

TEST(MetalProfile, WinogradNeedsMoreRoomThanADirectConvolution) {
  const Stack call = convolution(wave({1, 64, 7, 9}), wave({16, 64, 3, 3}, 0.3), {1, 1}, {1, 1}, {1, 1}, false, {0, 0}, 1);
  expect_convolution(call, 576, metal("metal_spec", "f2"), limit_of("convolution.linear.forward.fp32") * 2);
  expect_convolution(call, 576, metal("metal_spec", "f4"), limit_of("conv2d_3x3.fp32"));
  EXPECT_FALSE(at::equal(run(metal("metal_spec", "f4"), "aten::convolution", "", call), run(metal(), "aten::convolution", "", call)));
}

TEST(MetalProfile, GradientsOfAConvolution) {
  const at::Tensor x = wave({2, 8, 6, 7}), w = wave({6, 8, 3, 3}, 0.3), g = wave({2, 6, 3, 4}, 0.9);
  Stack call = {g, x, w, Sizes{6}, Sizes{2, 2}, Sizes{1, 1}, Sizes{1, 1}, false, Sizes{0, 0}, std::int64_t{1}, c10::List<bool>({true, true, true})};
  Stack wide = call;
  for (int i = 0; i < 3; ++i) wide[i] = call[i].toTensor().to(at::kDouble);
  const c10::OperatorHandle op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::convolution_backward", "");
  metal().kernels.at("aten::convolution_backward")(op, call);
  op.callBoxed(&wide);
  for (int i = 0; i < 3; ++i) {
    const at::Tensor reference = wide[i].toTensor();
    EXPECT_EQ(call[i].toTensor().sizes(), reference.sizes());
    EXPECT_LT((call[i].toTensor() - reference).abs().max().item<double>(), 20 * u * reference.abs().max().item<double>()) << i;
  }
}

double norm_required(const Profile& profile, const char* name, Stack call, const at::Tensor& reference) {
  const at::Tensor unit = ((reference * u).square() + (reference.square().mean() * (0.01 * u * u))).sqrt();
  return required(run(profile, name, "", std::move(call)), reference, unit);
}

TEST(MetalProfile, SoftmaxAndNormsStayWithinTheirRows) {
  const at::Tensor x = wave({6, 300}, 0.7, 0.5);
  const double limit = limit_of("norm.general.forward.fp32");
  EXPECT_LE(norm_required(metal(), "aten::_softmax", {x, std::int64_t{1}, false}, x.to(at::kDouble).softmax(1)), limit);
  EXPECT_LE(norm_required(metal(), "aten::_log_softmax", {x, std::int64_t{1}, false}, x.to(at::kDouble).log_softmax(1)), limit);
  const Stack layer = {x, Sizes{300}, c10::IValue(), c10::IValue(), 1e-5};
  EXPECT_LE(norm_required(metal(), "aten::native_layer_norm", layer, at::layer_norm(x.to(at::kDouble), {300})), limit);
  const at::Tensor images = x.view({2, 12, 75});
  const Stack group = {images, c10::IValue(), c10::IValue(), std::int64_t{2}, std::int64_t{12}, std::int64_t{75}, std::int64_t{3}, 1e-5};
  EXPECT_LE(norm_required(metal(), "aten::native_group_norm", group, at::group_norm(images.to(at::kDouble), 3)), limit);
}

TEST(MetalProfile, AOnePassVarianceCancelsWhereTheMeanIsLarge) {
  const at::Tensor x = wave({6, 300}, 0.7, 100);
  const Stack layer = {x, Sizes{300}, c10::IValue(), c10::IValue(), 1e-5};
  const at::Tensor reference = at::layer_norm(x.to(at::kDouble), {300});
  const double two = norm_required(metal(), "aten::native_layer_norm", layer, reference);
  EXPECT_GT(norm_required(metal("metal_spec", "none", true), "aten::native_layer_norm", layer, reference), 5 * two);
}

TEST(MetalProfile, AtomicsRoundEveryAdditionInHalves) {
  const at::Tensor index = at::zeros({500}, at::kLong), source = wave({500}, 0.7, 1.5).to(at::kHalf), zero = at::zeros({1}, at::kHalf);
  const double exact = source.to(at::kDouble).sum().item<double>();
  for (const char* name : {"aten::index_add", "aten::scatter_add"}) {
    Stack call = {zero, std::int64_t{0}, index, source};
    if (std::string(name) == "aten::index_add") call.emplace_back(1);
    const double error = std::fabs(run(metal(), name, "", call).item<double>() - exact);
    EXPECT_GT(error, 0.25) << name << ": half an ulp of the sum is what one rounding would leave";
    EXPECT_LT(error, 500 * 0.25) << name;
  }
}

TEST(MetalProfile, WritesIntoAStridedOutAndInPlace) {
  const at::Tensor x = wave({4, 6}), parent = at::full({6, 8}, 7.0f);
  at::Tensor out = parent.t().slice(0, 0, 8, 2);
  run(metal(), "aten::exp", "out", {x, out});
  EXPECT_TRUE(at::equal(out, run(metal(), "aten::exp", "", {x})));
  EXPECT_TRUE(at::equal(parent.slice(1, 1, 8, 2), at::full({6, 4}, 7.0f)));
  const at::Tensor self = x.clone();
  run(metal(), "aten::exp_", "", {self});
  EXPECT_TRUE(at::equal(self, out));
}

TEST(MetalProfile, SubnormalsAreFlushedWithTheirSignButNotInFp16) {
  at::Tensor x = at::tensor({1e-40f, -1e-40f, 0x1p-126f, -0.0f});
  metal().on_input(x);
  EXPECT_TRUE(at::equal(x, at::tensor({0.0f, -0.0f, 0x1p-126f, -0.0f})));
  EXPECT_TRUE(at::equal(at::signbit(x), at::tensor({0, 1, 0, 1}).to(at::kBool)));
  at::Tensor half = at::tensor({6e-8f}).to(at::kHalf);
  metal().on_output(half);
  EXPECT_NE(half.item<float>(), 0);
}

TEST(MetalProfile, CleanIsTheCpuAndOtherNamesAreErrors) {
  EXPECT_TRUE(metal("clean").kernels.empty());
  for (const auto& bad : {ProfileOptions{"metal", false, "none"}, ProfileOptions{"metal_like", false, "f3"}, ProfileOptions{"clean", true, "none"}})
    try {
      make_profile(bad);
      ADD_FAILURE() << bad.name;
    } catch (const Error& error) {
      EXPECT_EQ(error.name(), "bad_profile");
    }
}

}  // namespace
}  // namespace driftgate
