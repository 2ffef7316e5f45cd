// The tolerance table against error figures that were published for real Apple GPUs (tests/data/mps_errors.json).
//
// A row of the file is one published figure, with its source. Where it says enough to be put in the unit of a case's bound,
// its `check` names such a case; `required` below turns the figure into the range in which the case's `required` would lie.
// Elsewhere `no_check` says what is missing.
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <limits>
#include <optional>

#include "compare/comparison.hpp"
#include "json.hpp"
#include "judge/tolerance.hpp"

namespace driftgate {
namespace {

const std::filesystem::path kHome = DRIFTGATE_SOURCE_DIR;
constexpr double u = kUnitRoundoff;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Range {
  double low, high;
};

struct Numbers {                                  // NaN where a figure has no such number: its range is NaN and holds nowhere
  double error = kAbsent;
  double terms = kAbsent;                         // K
  double scale = 1;                               // rms of one product; 1 for N(0,1) inputs
  double roundings = 1;                           // 2 where the other side was rounded too
  double outputs = kAbsent;                       // their number
  double condition = kAbsent;                     // S over u |reference|
  double reference = kAbsent, spread = kAbsent;   // spread: S over u, at most
  double cpu_error = kAbsent, cpu_low = kAbsent, cpu_high = kAbsent;  // cpu_low, cpu_high: what CPUs needed in the row
};

int digits(Policy policy) { return policy == Policy::fp16 ? 11 : policy == Policy::bf16 ? 8 : 24; }
// Of a missing reference, or of 0, there is none.
double half_ulp(Policy policy, double reference) {
  return std::isnormal(reference) ? std::ldexp(1, std::ilogb(reference) - digits(policy)) : kAbsent;
}
double beyond(double error, double allowed) { return error <= allowed ? 0 : error - allowed; }              // NaN stays NaN

// The unit of the linear bound lies between u K at a reference of 0 and u K sqrt(1 + d²) at one of d deviations.
Range linear(double error, double terms, double deviations) {
  return {error / (u * terms * std::sqrt(1 + deviations * deviations)), error / (u * terms)};
}

Range general_value(const Numbers& n, Policy policy) {
  const double unit = u * std::sqrt(1.0625 * n.spread * n.spread + 1.01 * n.reference * n.reference);
  return {beyond(n.error, half_ulp(policy, n.reference)) / unit, n.error / (u * std::abs(n.reference))};
}

// The range of a case's `required` that a published figure allows.
Range required(const std::string& kind, const Numbers& n, Policy policy) {
  const double root = std::sqrt(n.terms), coarse = std::ldexp(1, 24 - digits(policy));
  const double sensitive = std::sqrt(1 + n.condition * n.condition);
  if (kind == "linear_max_abs") return linear(n.error / n.scale, n.terms, 3);
  if (kind == "linear_half_max_abs") {
    const double excess = beyond(n.error, n.roundings * half_ulp(policy, 5 * root));
    return {linear(excess, n.terms, 5).low, linear(n.error, n.terms, 5).high};
  }
  if (kind == "linear_rel_frobenius") return {n.error / (u * root * std::sqrt(2.0)), 5 * n.error / (u * root)};
  if (kind == "linear_rel_max") return linear(n.error * 5 * root, n.terms, 5);
  if (kind == "linear_rel_element") {
    const double smallest = std::sqrt(std::acos(0.0)) / n.outputs;  // |reference| over sqrt(K); acos(0) = pi/2
    return {n.error * smallest / (u * root), n.error * 3 / (u * root * std::sqrt(10.0))};
  }
  if (kind == "pointwise_ulp") return {beyond(n.error, 0.5) * coarse / sensitive, beyond(2 * n.error, 1) * coarse};
  if (kind == "pointwise_relative") return {beyond(n.error, u * coarse) / (u * sensitive), n.error / u};
  if (kind == "general_normal") {
    Numbers far = n;
    far.reference = far.spread = 3;
    return {general_value(far, policy).low, n.error / (u * std::sqrt(0.0725))};
  }
  if (kind == "general_value") return general_value(n, policy);
  if (kind == "times_cpu") return {n.error / n.cpu_error * n.cpu_low, n.error / n.cpu_error * n.cpu_high};
  if (kind == "exact") return {n.error, n.error};
  if (kind == "unbounded") return {kInfinity, kInfinity};
  return {kAbsent, kAbsent};
}

struct Check {
  std::string case_id, kind;
  Numbers numbers;
  bool inside = false, certain = false;           // certain: even the upper end of the range is inside
};

struct Figure {
  std::string name, considered, no_check;
  std::optional<Check> check;
};

Check read_check(const Json& object, const std::string& where) {
  ObjectReader in(object, where);
  Check check;
  check.case_id = in.string("case");
  check.kind = in.string("kind");
  Numbers& n = check.numbers;
  n.error = in.real("error", n.error);
  n.terms = in.real("terms", n.terms);
  n.scale = in.real("scale", n.scale);
  n.roundings = in.real("roundings", n.roundings);
  n.outputs = in.real("outputs", n.outputs);
  n.condition = in.real("condition", n.condition);
  n.reference = in.real("reference", n.reference);
  n.spread = in.real("spread", n.spread);
  n.cpu_error = in.real("cpu_error", n.cpu_error);
  EXPECT_FALSE(in.string("formula").empty()) << where;
  const std::string verdict = in.string("verdict");
  EXPECT_TRUE(verdict == "inside" || verdict == "outside") << where;
  check.inside = verdict == "inside";
  check.certain = in.boolean("certain", false);
  in.finish();
  return check;
}

std::vector<Figure> read_figures() {
  std::vector<Figure> figures;
  for (const Json& object : read_json(kHome / "tests/data/mps_errors.json")) {
    const std::string where = "mps_errors.json: [" + std::to_string(figures.size()) + "]";
    ObjectReader in(object, where);
    Figure figure;
    figure.name = in.string("source") + " " + in.string("op") + " " + in.string("value");
    figure.considered = in.string("considered");
    for (const char* key : {"date", "backend", "dtype", "shape", "metric"}) EXPECT_FALSE(in.string(key).empty()) << where;
    figure.no_check = in.string("no_check", "");
    if (in.has("check")) figure.check = read_check(in.object("check"), where + ".check");
    in.finish();
    EXPECT_NE(figure.check.has_value(), !figure.no_check.empty()) << where << ": one of check and no_check";
    figures.push_back(std::move(figure));
  }
  return figures;
}

bool starts_with(const std::string& text, std::string_view start) { return text.compare(0, start.size(), start) == 0; }
bool is_fine(const Figure& figure) { return starts_with(figure.considered, "ok"); }
bool is_tf32(const Figure& figure) { return figure.considered.find("TF32 class") != std::string::npos; }
bool is_bug(const Figure& figure) { return starts_with(figure.considered, "bug"); }

Range range_of(const Check& check, const ToleranceRow& row, Policy policy) {
  Numbers n = check.numbers;
  for (const auto& [device, value] : row.measured) {
    if (!starts_with(device, "cpu_")) continue;
    n.cpu_low = std::fmin(n.cpu_low, value);      // fmin and fmax pass over NaN
    n.cpu_high = std::fmax(n.cpu_high, value);
  }
  return required(check.kind, n, policy);
}

// The figures on which the table's verdict is not the stated one.
std::vector<const Figure*> misjudged(const std::vector<Figure>& figures, const ToleranceTable& table, const Suite& suite) {
  std::vector<const Figure*> wrong;
  for (const Figure& figure : figures) {
    if (!figure.check) continue;
    const Case c = suite.find(figure.check->case_id);
    const ToleranceRow& row = table.row_for(c);
    const double limit = row.limit_at(row.tier, c.policy);
    const Range range = range_of(*figure.check, row, c.policy);
    const bool inside = range.low <= limit && (!figure.check->certain || range.high <= limit);
    const bool outside = range.low > limit;
    if (!(range.low <= range.high) || !(figure.check->inside ? inside : outside)) wrong.push_back(&figure);
  }
  return wrong;
}

class AppleErrors : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    suite_ = new Suite(Suite::load(kHome / "tests/cases"));
    figures_ = new std::vector<Figure>(read_figures());
  }
  static void TearDownTestSuite() {
    delete suite_;
    delete figures_;
  }
  static std::vector<const Figure*> misjudged_with_limits_times(double factor) {
    std::vector<ToleranceRow> rows = ToleranceTable::load(kHome / "tolerances").rows();
    for (ToleranceRow& row : rows) {
      row.limit *= factor;
      row.loose_limit *= factor;
    }
    return misjudged(*figures_, ToleranceTable(std::move(rows)), *suite_);
  }
  inline static Suite* suite_ = nullptr;
  inline static std::vector<Figure>* figures_ = nullptr;
};

TEST_F(AppleErrors, EveryPublishedFigureIsThereAndManyOfEachVerdict) {
  int inside = 0, certain = 0, outside = 0, unchecked = 0;
  for (const Figure& figure : *figures_) {
    ++(!figure.check ? unchecked : figure.check->inside ? inside : outside);
    certain += figure.check && figure.check->certain;
  }
  std::cout << "published figures: " << inside << " inside (" << certain << " by their upper end), " << outside << " outside, "
            << unchecked << " not checked\n";
  EXPECT_EQ(figures_->size(), 158u);
  EXPECT_GE(inside, 30);
  EXPECT_GE(certain, 20);
  EXPECT_GE(outside, 40);
  EXPECT_LE(unchecked, 85);
}

TEST_F(AppleErrors, FineFiguresAreInsideAndBugsAndTf32AreOutside) {
  const ToleranceTable table = ToleranceTable::load(kHome / "tolerances");
  for (const Figure* figure : misjudged(*figures_, table, *suite_)) {
    ADD_FAILURE() << figure->name << " (" << figure->considered << ')';
  }
}

TEST_F(AppleErrors, VerdictsFollowWhatWasThoughtOfTheFigures) {
  for (const Figure& figure : *figures_) {
    if (!figure.check) continue;
    const bool faulty = is_bug(figure) || is_tf32(figure);
    EXPECT_FALSE(is_fine(figure) && !figure.check->inside) << figure.name;
    EXPECT_FALSE(faulty && figure.check->inside) << figure.name;
  }
}

TEST_F(AppleErrors, LimitsTenThousandTimesAsWideLetTf32Pass) {
  int tf32 = 0, fine = 0;
  for (const Figure* figure : misjudged_with_limits_times(1e4)) {
    tf32 += is_tf32(*figure);
    fine += is_fine(*figure);
  }
  EXPECT_GE(tf32, 8);
  EXPECT_EQ(fine, 0);
}

TEST_F(AppleErrors, LimitsAThousandTimesAsNarrowRefuseFineFigures) {
  int fine = 0, bugs = 0;
  for (const Figure* figure : misjudged_with_limits_times(1e-3)) {
    fine += is_fine(*figure);
    bugs += is_bug(*figure);
  }
  EXPECT_GE(fine, 20);
  EXPECT_EQ(bugs, 0);
}

TEST(AppleErrorRange, OfALargestErrorIsOverTheUnitAtThreeDeviationsAndAtZero) {
  Numbers n;
  n.error = 256 * u;
  n.terms = 256;
  const Range range = required("linear_max_abs", n, Policy::fp32);
  EXPECT_DOUBLE_EQ(range.low, 1 / std::sqrt(10.0));
  EXPECT_DOUBLE_EQ(range.high, 1);
}

TEST(AppleErrorRange, OfUlpsIsAtMostTwiceThemLessTheRounding) {
  Numbers n;
  n.error = 4;
  n.condition = 0;
  EXPECT_DOUBLE_EQ(required("pointwise_ulp", n, Policy::fp32).low, 3.5);
  EXPECT_DOUBLE_EQ(required("pointwise_ulp", n, Policy::fp32).high, 7);
  EXPECT_DOUBLE_EQ(required("pointwise_ulp", n, Policy::fp16).high, 7 * 0x1p13);
  n.error = 0.5;
  EXPECT_EQ(required("pointwise_ulp", n, Policy::fp32).high, 0);
}

TEST(AppleErrorRange, OfAMissingNumberOrAnUnknownKindIsNone) {
  Numbers n;
  n.error = 1;
  EXPECT_TRUE(std::isnan(required("linear_max_abs", n, Policy::fp32).low));
  EXPECT_TRUE(std::isnan(required("linear_half_max_abs", n, Policy::fp16).low));
  EXPECT_TRUE(std::isnan(required("general_value", n, Policy::fp32).low));
  EXPECT_TRUE(std::isnan(required("no_such_kind", n, Policy::fp32).high));
}

}  // namespace
}  // namespace driftgate
