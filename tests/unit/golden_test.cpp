#include "run/golden.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "error.hpp"

namespace driftgate {
namespace {

const char* const kId = "mm/a/fp32/forward/canonical";

class Golden : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = std::filesystem::temp_directory_path() / ("driftgate_golden_" + std::to_string(::getpid()));
    std::filesystem::remove_all(root_);
    write_golden_set(root_, Json{{"card", "none: a test"}}, content());
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  static GoldenContent content() {
    GoldenOutput output;
    output.name = "result";
    output.shape = {2, 2};
    output.digest = std::string(32, 'a');
    output.sample = from_doubles(DType::f32, {4}, {1, -2, 3.5, 0.25});
    output.required = 1.5;
    output.spread = 0.25;
    output.spread_bitwise = false;
    output.tf32 = from_doubles(DType::f32, {4}, {1, -2, 3.5, 0.5});
    output.tf32_required = 512;
    output.doubles = {1, -2, 3.5, 0.25};
    output.half_required = 4096;
    output.ensemble = Ensemble{{1, -2, 3.5, 0.25}, {0, 0, 1e-7, 1e-6}};
    GoldenContent content;
    content["matmul"][kId] = {std::string(32, 'b'), {output}};
    return content;
  }

  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(root_)) found.push_back(entry.path());
    return found;
  }

  // The name of the Error that reading the whole set gives, or "".
  std::string problem() const {
    try {
      const GoldenSet set = GoldenSet::open(root_);
      set.family("matmul");
    } catch (const Error& error) {
      return error.name();
    }
    return "";
  }

  static std::string slurp(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  static void spill(const std::filesystem::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

  std::filesystem::path root_;
};

TEST_F(Golden, ReadsBackWhatWasWritten) {
  const GoldenSet set = GoldenSet::open(root_);
  EXPECT_EQ(set.manifest()["card"], "none: a test");
  EXPECT_EQ(set.families(), std::vector<std::string>{"matmul"});
  const GoldenCase* golden = set.find("matmul", kId);
  ASSERT_NE(golden, nullptr);
  EXPECT_EQ(golden->input_digest, std::string(32, 'b'));
  const GoldenOutput& output = golden->outputs.at(0);
  EXPECT_EQ(output.shape, (Shape{2, 2}));
  EXPECT_EQ(output.required, 1.5);
  EXPECT_EQ(output.spread, 0.25);
  EXPECT_FALSE(output.spread_bitwise);
  EXPECT_EQ(output.tf32_required, 512);
  EXPECT_EQ(output.half_required, 4096);
  ASSERT_TRUE(output.ensemble);
  EXPECT_EQ(output.ensemble->mean, (std::vector<double>{1, -2, 3.5, 0.25}));
  EXPECT_EQ(output.ensemble->spread, (std::vector<double>{0, 0, 1e-7, 1e-6}));
  EXPECT_EQ(to_doubles(output.sample), (std::vector<double>{1, -2, 3.5, 0.25}));
  EXPECT_EQ(output.doubles, (std::vector<double>{1, -2, 3.5, 0.25}));
  EXPECT_EQ(set.find("matmul", "mm/b/fp32/forward/canonical"), nullptr);
  EXPECT_EQ(set.find("softmax", kId), nullptr);
}

TEST_F(Golden, AnEnsembleOfAnotherSizeIsNoEnsemble) {
  GoldenContent shorter = content();
  shorter["matmul"][kId].outputs[0].ensemble->mean.pop_back();
  shorter["matmul"][kId].outputs[0].ensemble->spread.pop_back();
  shorter["matmul"][kId].outputs[0].shape = {3};
  shorter["matmul"][kId].outputs[0].sample = from_doubles(DType::f32, {4}, {1, -2, 3.5, 0.25});
  std::filesystem::remove_all(root_);
  write_golden_set(root_, Json{{"card", "none: a test"}}, shorter);
  EXPECT_EQ(problem(), "bad_golden");
}

TEST_F(Golden, NoticesEverySingleFlippedByte) {
  ASSERT_EQ(problem(), "");
  std::size_t flips = 0;
  for (const std::filesystem::path& file : files()) {
    const std::string bytes = slurp(file);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ (1 << (i % 8)));
      spill(file, flipped);
      EXPECT_NE(problem(), "") << file << " byte " << i;
      ++flips;
    }
    spill(file, bytes);
  }
  EXPECT_GT(flips, 500U);
  EXPECT_EQ(problem(), "");
}

TEST_F(Golden, RefusesAFileThatIsMissingOrNotListed) {
  spill(root_ / "extra.json", "{}");
  EXPECT_EQ(problem(), "golden_corrupt");
  std::filesystem::remove(root_ / "extra.json");
  std::filesystem::remove(root_ / "matmul.safetensors");
  EXPECT_NE(problem(), "");
}

TEST_F(Golden, RefusesAnotherSchemaVersion) {
  std::filesystem::remove_all(root_);
  write_golden_set(root_, Json{{"schema", "driftgate.golden/99"}}, content());
  EXPECT_EQ(problem(), "golden_schema");
}

TEST_F(Golden, RefusesASampleOfAnotherSize) {
  GoldenContent wrong = content();
  wrong["matmul"][kId].outputs[0].shape = {2, 3};
  wrong["matmul"][kId].outputs[0].ensemble.reset();
  std::filesystem::remove_all(root_);
  write_golden_set(root_, Json::object(), wrong);
  EXPECT_EQ(problem(), "bad_golden");
}

TEST(GoldenSample, HoldsSmallOutputsWholeAndEveryColumnOfLargeOnes) {
  EXPECT_EQ(sample_positions({32, 32}).size(), 1024U);
  EXPECT_EQ(sample_positions({}).size(), 1U);
  EXPECT_TRUE(sample_positions({0, 4}).empty());
  const std::vector<std::int64_t> large = sample_positions({64, 96});
  EXPECT_LE(large.size(), 1024U);
  std::set<std::int64_t> columns;
  for (const std::int64_t p : large) columns.insert(p % 96);
  EXPECT_EQ(columns.size(), 96U);
}

TEST(GoldenSample, FindsTheOnlySetAndRefusesToChoose) {
  const std::filesystem::path root = std::filesystem::temp_directory_path() / ("driftgate_sets_" + std::to_string(::getpid()));
  std::filesystem::remove_all(root);
  EXPECT_FALSE(find_golden_set(root).has_value());
  write_golden_set(root / "a", Json::object(), {});
  EXPECT_EQ(find_golden_set(root), root / "a");
  write_golden_set(root / "b", Json::object(), {});
  EXPECT_THROW(find_golden_set(root), Error);
  EXPECT_EQ(find_golden_set(root / "b"), root / "b");
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace driftgate
