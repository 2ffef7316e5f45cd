// Twins on operators that are made wrong on purpose, each beside one that is right.
#include <gtest/gtest.h>
#include <torch/library.h>

#include "inline_suite.hpp"
#include "run/forms_maker.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

// The fp64 reference stays right.
bool honest(const at::Tensor& self) { return self.scalar_type() == c10::kDouble; }

at::Tensor ignores_strides(const at::Tensor& self) {
  if (honest(self)) return self.mul(2);
  return self.as_strided(self.sizes(), at::empty(self.sizes()).strides(), self.storage_offset()).mul(2);
}
at::Tensor ignores_offset(const at::Tensor& self) { return honest(self) ? self.mul(2) : self.as_strided(self.sizes(), self.strides(), 0).mul(2); }
at::Tensor modifies(const at::Tensor& self) {
  const at::Tensor result = self.mul(2);
  if (!honest(self)) const_cast<at::Tensor&>(self).zero_();
  return result;
}
at::Tensor drifts(const at::Tensor& self) {
  static int calls = 0;
  return self.mul(!honest(self) && ++calls > 6 ? 2.5 : 2);
}
at::Tensor doubles(const at::Tensor& self) { return self.mul(2); }
at::Tensor& doubles_out(const at::Tensor& self, at::Tensor& out) { return at::mul_out(out, self, at::scalar_tensor(2.0)); }
at::Tensor& spills_out(const at::Tensor& self, at::Tensor& out) {
  out.as_strided({out.storage_offset() + 1}, {1}, 0).fill_(7);
  return at::mul_out(out, self, at::scalar_tensor(2.0));
}
at::Tensor caches(const at::Tensor& self, std::int64_t dim) {   // keeps the first dim that it was called with
  if (honest(self)) return self.sum(dim, /*keepdim=*/true).expand_as(self).contiguous();
  static const std::int64_t first = dim;
  return self.sum(first, /*keepdim=*/true).expand_as(self).contiguous();
}

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("dg_ignores_strides(Tensor self) -> Tensor", &ignores_strides);
  m.def("dg_ignores_offset(Tensor self) -> Tensor", &ignores_offset);
  m.def("dg_modifies(Tensor self) -> Tensor", &modifies);
  m.def("dg_drifts(Tensor self) -> Tensor", &drifts);
  m.def("dg_doubles(Tensor self) -> Tensor", &doubles);
  m.def("dg_doubles.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", &doubles_out);
  m.def("dg_spills(Tensor self) -> Tensor", &doubles);
  m.def("dg_spills.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", &spills_out);
  m.def("dg_caches(Tensor self, int dim) -> Tensor", &caches);
}

std::string spec(const std::string& op, const std::string& more = "") {
  return R"({"family": "f", "ops": ["aten::)" + op + R"("], "bound": "linear", "terms": 1, "policies": ["fp32"], "directions": ["forward"],
    "cases": {"a": {"self": {"shape": [4, 6], "fill": "normal"})" + more + "}}}";
}

class Ran {
 public:
  Ran(const std::string& op, const std::string& twin, const std::string& more = "", const std::vector<std::string>& roads = {})
      : suite_(inline_suite(spec(op, more), {{op + "/a", roads}})) {
    Runner runner(Device::cpu, nullptr);
    runner.run(suite_.find(op + "/a/fp32/forward/canonical"));
    record = runner.run(suite_.find(op + "/a/fp32/forward/" + twin));
  }
  double required() const {
    double most = record.outputs.empty() ? INFINITY : 0;
    for (const OutputRecord& output : record.outputs) most = std::max(most, output.comparison.required[static_cast<std::size_t>(output.bound)]);
    return most;
  }
  CaseRecord record;

 private:
  Suite suite_;
};

TEST(TwinRun, ALayoutThatIsMisreadIsFarFromThePlainCall) {
  for (const char* layout : {"permuted_self", "step2_self", "slice_self"}) {
    EXPECT_GT(Ran("dg_ignores_strides", layout).required(), 1e5) << layout;
    EXPECT_EQ(Ran("dg_doubles", layout).required(), 0) << layout;
  }
  EXPECT_EQ(Ran("dg_ignores_strides", "offset_self").required(), 0) << "its strides are those of a plain tensor";
  EXPECT_FALSE(Ran("dg_ignores_offset", "offset_self").required() <= 1e5);
  EXPECT_EQ(Ran("dg_ignores_offset", "permuted_self").required(), 0);
}

TEST(TwinRun, RowsThatRepeatAreComparedWithTheSameValuesStored) {
  EXPECT_EQ(Ran("dg_doubles", "expanded_self").required(), 0);
  EXPECT_FALSE(Ran("dg_ignores_strides", "expanded_self").required() <= 1e5);
}

TEST(TwinRun, AnOperandThatIsModifiedIsSaid) {
  EXPECT_EQ(Ran("dg_modifies", "inputs_kept").record.stage, "side_effect");
  EXPECT_EQ(Ran("dg_doubles", "inputs_kept").record.stage, "done");
}

TEST(TwinRun, AResultThatDriftsIsFoundByRepeating) {
  EXPECT_FALSE(Ran("dg_drifts", "repeat").record.outputs.at(0).repeat_bitwise);
  EXPECT_TRUE(Ran("dg_doubles", "repeat").record.outputs.at(0).repeat_bitwise);
}

TEST(TwinRun, MemoryBesideTheOutIsWatched) {
  EXPECT_EQ(Ran("dg_spills", "out", "", {"out"}).record.stage, "side_effect");
  const Ran right("dg_doubles", "out", "", {"out"});
  EXPECT_EQ(right.record.stage, "done") << right.record.message;
  EXPECT_EQ(right.required(), 0);
}

TEST(TwinRun, AKernelCachedForAnotherArgumentIsFound) {
  EXPECT_GT(Ran("dg_caches", "pair_dim", R"(, "dim": 0)", {"pair_dim"}).required(), 1e5);
  EXPECT_LT(Ran("sum.dim_IntList", "pair_dim", R"(, "dim": [0])", {"pair_dim"}).required(), 4);
}

TEST(FormsMaker, FindsTheRoadsOfAnOperatorAndNoOthers) {
  const Suite add = inline_suite(R"({"family": "f", "ops": ["aten::add.Tensor"], "bound": "pointwise", "policies": ["fp32"], "directions": ["forward"],
    "cases": {"a": {"self": {"shape": [4, 6], "fill": "normal"}, "other": {"shape": [4, 6], "fill": "normal"}, "alpha": 2},
              "grows": {"self": {"shape": [6], "fill": "normal"}, "other": {"shape": [4, 6], "fill": "normal"}}}})");
  const Forms forms = make_forms(add, Filter::canonical());
  EXPECT_EQ(forms.at("add.Tensor/a"), (std::vector<std::string>{"inplace", "out", "batch", "pair_alpha"}));
  EXPECT_EQ(forms.at("add.Tensor/grows"), std::vector<std::string>{"out"});
}

}  // namespace
}  // namespace driftgate
