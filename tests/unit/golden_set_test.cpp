// The committed golden set: whole, described by its schema, and there for every case of the suite.
#include <gtest/gtest.h>

#include "case/case.hpp"
#include "run/golden.hpp"
#include "schema_complaint.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kHome = DRIFTGATE_SOURCE_DIR;

GoldenSet committed() { return GoldenSet::open(find_golden_set(kHome / "golden").value()); }

TEST(GoldenSet, ItsManifestFitsTheSchema) {
  const std::filesystem::path schema = kHome / "docs/schema/golden.schema.json";
  Json manifest = committed().manifest();
  EXPECT_EQ(complaint(schema, manifest.dump()), "");
  manifest["flags"]["tf32"] = true;
  EXPECT_NE(complaint(schema, manifest.dump()), "") << "a set made with TF32 must not fit";
}

TEST(GoldenSet, EveryCaseHasAGoldenOrAReason) {
  const GoldenSet set = committed();
  const Json& unsupported = set.manifest()["unsupported"];
  std::int64_t goldens = 0, reasons = 0;
  Suite::load(kHome / "tests/cases").for_each(Filter::canonical(), [&](const Case& c) {
    if (!c.compared()) return;
    const bool listed = unsupported.contains(c.id()), present = set.find(c.row->family, c.id()) != nullptr;
    EXPECT_NE(listed, present) << c.id();
    goldens += present;
    reasons += listed;
  });
  EXPECT_GE(goldens, 2500);
  EXPECT_LT(reasons, goldens / 100);
}

TEST(GoldenSet, HoldsATf32PassWhereItDiffers) {
  const GoldenSet set = committed();
  const GoldenCase* mm = set.find("matmul", "mm/k257/fp32/forward/canonical");
  ASSERT_NE(mm, nullptr);
  EXPECT_TRUE(mm->outputs.at(0).tf32.has_value());
  EXPECT_GT(mm->outputs[0].tf32_required, 40);
  const GoldenCase* add = set.find("binary", "add.Tensor/normal/fp32/forward/canonical");
  ASSERT_NE(add, nullptr);
  EXPECT_FALSE(add->outputs.at(0).tf32.has_value()) << "an addition knows no TF32";
}

TEST(GoldenSet, StaysUnderThirtyTwoMebibytes) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kHome / "golden"))
    if (entry.is_regular_file()) bytes += entry.file_size();
  EXPECT_GT(bytes, 1U << 20);
  EXPECT_LT(bytes, 32U << 20);
}

}  // namespace
}  // namespace driftgate
