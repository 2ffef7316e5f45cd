// Each effect changes what it says, and nothing where it cannot.
#include "sim/effect.hpp"

#include <gtest/gtest.h>

#include "simulated.hpp"

namespace driftgate {
namespace {

at::Tensor ramp(at::IntArrayRef sizes) { return at::arange(1, c10::multiply_integers(sizes) + 1, at::kFloat).view(sizes); }

// What `op` gives with the fault planted, on the CPU.
template <class Run>
at::Tensor faulty(const std::string& op, const std::string& effect, Run run, const std::string& when = "{}") {
  const PlantedFault fault(op, effect, when);
  return run().cpu();
}

void expect_equal(const at::Tensor& got, const at::Tensor& wanted) { EXPECT_TRUE(at::equal(got, wanted)) << got << wanted; }

TEST(Effect, StridesAndOffsetsAreIgnoredWhereThereAreSome) {
  const at::Tensor x = on_sim(ramp({2, 3}));
  const auto neg_of = [](const at::Tensor& t) { return [t] { return t.neg(); }; };
  expect_equal(faulty("aten::neg*", R"({"kind": "ignore_strides"})", neg_of(x.t())), -ramp({3, 2}));
  expect_equal(faulty("aten::neg*", R"({"kind": "ignore_strides"})", neg_of(x)), -ramp({2, 3}));
  expect_equal(faulty("aten::neg*", R"({"kind": "ignore_offset"})", neg_of(x[1])), -ramp({3}));
  expect_equal(faulty("aten::neg*", R"({"kind": "ignore_offset"})", neg_of(x[0])), -ramp({3}));
}

TEST(Effect, WritesAreLostOrGoAstray) {
  const auto second_row_doubled = [](at::Tensor parent) {
    parent[1].mul_(2);
    return parent;
  };
  at::Tensor right = ramp({3, 3});
  right[1].mul_(2);
  expect_equal(faulty("aten::mul*", R"({"kind": "write_lost"})", [&] { return second_row_doubled(on_sim(ramp({3, 3}))); }), ramp({3, 3}));
  const at::Tensor astray = faulty("aten::mul*", R"({"kind": "write_outside"})", [&] { return second_row_doubled(on_sim(ramp({3, 3}))); });
  expect_equal(astray[1], right[1]);
  EXPECT_FALSE(at::equal(astray, right));
  expect_equal(faulty("aten::mul*", R"({"kind": "write_outside"})", [] { return on_sim(ramp({2})).mul_(2); }), ramp({2}) * 2);
}

TEST(Effect, ValuesOfTheOutput) {
  const at::Tensor x = on_sim(ramp({2, 3}));
  const auto absolute = [&] { return x.abs(); };
  const auto with = [&](const char* effect) { return faulty("aten::abs*", effect, absolute); };
  expect_equal(with(R"({"kind": "scale", "by": 2})"), ramp({2, 3}) * 2);
  expect_equal(with(R"({"kind": "zero_output"})"), at::zeros({2, 3}));
  EXPECT_TRUE(with(R"({"kind": "nan_output"})").isnan().all().item<bool>());
  expect_equal(with(R"({"kind": "transpose_output"})"), ramp({2, 3}).t().contiguous().view({2, 3}));
  expect_equal(with(R"({"kind": "wrong_element", "index": 1})").ne(ramp({2, 3})).nonzero(), at::tensor({0L, 1L}).view({1, 2}));
  EXPECT_EQ(with(R"({"kind": "wrong_element", "from_index": 4})").ne(ramp({2, 3})).sum().item<int>(), 2);
  expect_equal(with(R"({"kind": "wrong_element", "index": 6})"), ramp({2, 3}));
  expect_equal(with(R"({"kind": "swap_top2"})")[0], at::tensor({2.0F, 1.0F, 3.0F}));
  expect_equal(with(R"({"kind": "add_ulps", "ulps": 1})"), at::nextafter(ramp({2, 3}), at::full({2, 3}, 1e9F)));
  expect_equal(with(R"({"kind": "round_output", "bits": 1})"), at::tensor({1.0F, 2.0F, 2.0F, 4.0F, 4.0F, 8.0F}).view({2, 3}));
  expect_equal(with(R"({"kind": "round_output", "bits": 24})"), ramp({2, 3}));
  EXPECT_EQ(with(R"({"kind": "wrong_shape"})").sizes(), (std::vector<std::int64_t>{1, 3}));
  expect_equal(faulty("aten::max*", R"({"kind": "zero_output", "output": 1})", [&] { return std::get<0>(x.max(1)); }), at::tensor({3.0F, 6.0F}));
}

TEST(Effect, SpecialValues) {
  const at::Tensor x = on_sim(at::tensor({0.0F, NAN, 1e-40F, 2.0F}));
  const auto with = [&](const char* effect) { return faulty("aten::abs*", effect, [&] { return x.abs(); }); };
  EXPECT_EQ(with(R"({"kind": "nan_to_zero"})")[1].item<float>(), 0.0F);
  EXPECT_TRUE(std::isnan(with(R"({"kind": "zero_to_nan"})")[0].item<float>()));
  EXPECT_EQ(with(R"({"kind": "flush_subnormals"})")[2].item<float>(), 0.0F);
  EXPECT_EQ(with(R"({"kind": "flush_subnormals"})")[3].item<float>(), 2.0F);
}

TEST(Effect, Precision) {
  const at::Tensor ones = on_sim(at::ones({1, 300}, at::kBFloat16));
  const auto product = [&] { return ones.mm(ones.t()); };
  EXPECT_EQ(faulty("aten::mm*", R"({"kind": "accumulate_in", "dtype": "bf16"})", product).item<float>(), 256.0F) << "256 + 1 rounds to 256";
  EXPECT_EQ(faulty("aten::mm*", R"({"kind": "accumulate_in", "dtype": "f32"})", product).item<float>(), 300.0F);
  EXPECT_EQ(faulty("aten::mm*", R"({"kind": "drop_last_term"})", [&] { return ones.to(at::kFloat).mm(ones.to(at::kFloat).t()); }).item<float>(), 299.0F);
  const at::Tensor third = on_sim(at::full({1}, 1.0F / 3));
  EXPECT_EQ(faulty("aten::neg*", R"({"kind": "round_inputs", "bits": 2})", [&] { return third.neg(); }).item<float>(), -0.375F);
  const at::Tensor half = on_sim(at::full({1}, 5.0F).to(at::kHalf));
  const at::Tensor cut = faulty("aten::div*", R"({"kind": "truncate_output"})", [&] { return half.div(half + 1); });   // 5/6 rounds up in fp16
  EXPECT_LT(cut.item<float>(), 5.0F / 6);
  EXPECT_GT(at::full({1}, 5.0F / 6).to(at::kHalf).item<float>(), 5.0F / 6);
}

TEST(Effect, ArgumentsAndCasts) {
  const at::Tensor x = on_sim(ramp({3}));
  expect_equal(faulty("aten::add*", R"({"kind": "ignore_argument", "name": "alpha"})", [&] { return x.add(x, 5); }), ramp({3}) * 2);
  const at::Tensor weight = on_sim(at::full({3}, 7.0F));
  expect_equal(faulty("aten::native_layer_norm", R"({"kind": "ignore_argument", "name": "weight"})", [&] { return at::layer_norm(x, {3}, weight); }),
               at::layer_norm(ramp({3}), {3}));
  const at::Tensor whole = on_sim(at::tensor({1, 2}, at::kInt));
  EXPECT_LT(faulty("aten::copy_", R"({"kind": "wrong_cast"})", [&] { return whole.to(at::kFloat); })[0].item<float>(), 1e-40F);
  expect_equal(faulty("aten::copy_", R"({"kind": "wrong_cast"})", [&] { return whole.clone(); }), at::tensor({1, 2}, at::kInt));
  expect_equal(faulty("aten::mul*", R"({"kind": "int_wrap", "bits": 8})", [&] { return whole * 100; }), at::tensor({100, -56}, at::kInt));
}

TEST(Effect, ResultsOfEarlierCalls) {
  const at::Tensor a = on_sim(ramp({2})), b = on_sim(-ramp({2})), longer = on_sim(ramp({3}));
  expect_equal(faulty("aten::neg*", R"({"kind": "stale_output"})", [&] { a.neg(); return b.neg(); }), -ramp({2}));
  expect_equal(faulty("aten::neg*", R"({"kind": "stale_output"})", [&] { longer.neg(); return b.neg(); }), ramp({2}));
  expect_equal(faulty("aten::neg*", R"({"kind": "reuse_first_result"})", [&] { a.neg(); b.neg(); return b.neg(); }), -ramp({2}));
  const PlantedFault fault("aten::neg*", R"({"kind": "nondeterministic"})");
  EXPECT_FALSE(at::equal(on_sim(ramp({64})).neg().cpu(), on_sim(ramp({64})).neg().cpu()));
}

TEST(Effect, UninitializedMemoryIsWhatWasThere) {
  const auto after = [](float left) {
    return [left] {
      const at::Tensor x = on_sim(ramp({40}));
      { at::Tensor two[] = {at::full_like(x, left), at::full_like(x, left)}; }          // the output takes one of the blocks
      return x.neg();
    };
  };
  EXPECT_TRUE(faulty("aten::neg*", R"({"kind": "read_uninitialized"})", after(NAN)).isnan().any().item<bool>());
  expect_equal(faulty("aten::neg*", R"({"kind": "read_uninitialized"})", after(0)), -ramp({40}));
}

TEST(Effect, RandomNumbers) {
  const auto draw = [] { return at::rand({8}, at::TensorOptions().device(sim())).cpu(); };
  const auto seeded = [&] {
    at::manual_seed(3);
    return draw();
  };
  {
    const PlantedFault fault("aten::uniform_|aten::rand*", R"({"kind": "same_samples"})");
    expect_equal(draw(), draw());
  }
  const PlantedFault fault("aten::uniform_|aten::rand*", R"({"kind": "no_reseed"})");
  EXPECT_FALSE(at::equal(seeded(), seeded()));
}

TEST(Effect, ErrorsThatDoNotComeAndOnesThatDo) {
  const at::Tensor x = on_sim(ramp({3})), beyond = on_sim(at::tensor({7L}));
  EXPECT_THROW(x.index_select(0, beyond), c10::Error);
  EXPECT_EQ(faulty("aten::index_select*", R"({"kind": "no_error_on_bad_index"})", [&] { return x.index_select(0, beyond); }).numel(), 1);
  EXPECT_THROW(faulty("aten::neg*", R"({"kind": "raise"})", [&] { return x.neg(); }), c10::Error);
  EXPECT_EXIT(faulty("aten::neg*", R"({"kind": "abort"})", [&] { return x.neg(); }), testing::KilledBySignal(SIGABRT), "");
}

TEST(Effect, ALeakStaysAllocated) {
  const at::Tensor x = on_sim(ramp({3}));
  const PlantedFault fault("aten::neg*", R"({"kind": "leak", "bytes": 1000000})");
  const std::int64_t before = simulated_bytes();
  x.abs();
  EXPECT_EQ(simulated_bytes(), before);
  x.neg();
  EXPECT_GE(simulated_bytes(), before + 1000000);
}

}  // namespace
}  // namespace driftgate
