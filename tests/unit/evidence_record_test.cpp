// The line format: what is written is read back in every bit, and nothing else is read.
#include <bit>
#include <cmath>
#include <gtest/gtest.h>

#include "error_name.hpp"
#include "evidence_records.hpp"

namespace driftgate {
namespace {

const std::string kId = "softmax.int/wide/fp32/forward/canonical";

std::string error_of(const std::string& line) {
  return error_text([&] { parse_line(line, "cases.jsonl:7"); });
}

std::string with_output(const std::string& members) {
  return R"({"id":"x","outputs":[{"name":"r","dtype":"f32","shape":[2],"bound":"general","n":2)" + members + "}]}";
}

void expect_same_bits(const std::array<double, kBounds>& a, const std::array<double, kBounds>& b) {
  for (int i = 0; i < kBounds; ++i) EXPECT_EQ(std::bit_cast<std::uint64_t>(a[i]), std::bit_cast<std::uint64_t>(b[i])) << i;
}

TEST(EvidenceLine, FullRecordReadsBackInEveryBit) {
  const CaseRecord a = full_record(kId);
  const CaseRecord b = parse_line(to_line(a), "line");
  EXPECT_EQ(a.id, b.id);
  EXPECT_EQ(a.stage, b.stage);
  EXPECT_EQ(a.message, b.message);
  EXPECT_EQ(a.input_digest, b.input_digest);
  EXPECT_TRUE(b.golden_missing);
  EXPECT_TRUE(b.golden_input_differs);
  EXPECT_EQ(a.inert, b.inert);
  EXPECT_EQ(a.warnings, b.warnings);
  EXPECT_EQ(a.micros, b.micros);
  ASSERT_EQ(b.outputs.size(), 2u);
  EXPECT_EQ(b.outputs[1].name, "grad.self");
  const OutputRecord &x = a.outputs[0], &y = b.outputs[0];
  EXPECT_EQ(x.dtype, y.dtype);
  EXPECT_EQ(x.shape, y.shape);
  EXPECT_EQ(x.bound, y.bound);
  EXPECT_EQ(x.repeat, y.repeat);
  EXPECT_EQ(x.metrics, y.metrics);
  EXPECT_EQ(x.climbs, y.climbs);
  EXPECT_EQ(a.observed, b.observed);
  EXPECT_EQ(a.observed_bits, b.observed_bits);
  EXPECT_FALSE(y.repeat_bitwise);
  EXPECT_EQ(x.comparison.count, y.comparison.count);
  EXPECT_EQ(x.comparison.differing, y.comparison.differing);
  EXPECT_EQ(x.comparison.nonfinite_mismatch, y.comparison.nonfinite_mismatch);
  expect_same_bits(x.comparison.required, y.comparison.required);
  EXPECT_EQ(x.comparison.zeros_required, y.comparison.zeros_required);
  EXPECT_EQ(x.comparison.max_error, y.comparison.max_error);
  EXPECT_EQ(x.comparison.rms_error, y.comparison.rms_error);
  EXPECT_EQ(x.comparison.rms_reference, y.comparison.rms_reference);
  EXPECT_EQ(x.comparison.p999, y.comparison.p999);
  EXPECT_EQ(x.comparison.worst, y.comparison.worst);
  EXPECT_TRUE(std::isnan(y.comparison.worst_got));
  EXPECT_EQ(y.comparison.worst_want, -kInf);
  EXPECT_EQ(x.comparison.ulp_histogram, y.comparison.ulp_histogram);
  ASSERT_TRUE(y.golden);
  EXPECT_EQ(x.golden->required, y.golden->required);
  EXPECT_EQ(x.golden->direct, y.golden->direct);
  EXPECT_EQ(x.golden->rms_error, y.golden->rms_error);
  EXPECT_EQ(x.golden->candidate_rms_error, y.golden->candidate_rms_error);
  EXPECT_EQ(x.golden->spread, y.golden->spread);
  EXPECT_EQ(x.golden->tf32_required, y.golden->tf32_required);
  EXPECT_EQ(x.golden->reference_gap, y.golden->reference_gap);
  EXPECT_EQ(x.golden->half_required, y.golden->half_required);
  EXPECT_EQ(to_line(a), to_line(b));
}

TEST(EvidenceLine, AbsentNumbersTakeNoRoomAndStayAbsent) {
  CaseRecord record = short_record(kId);
  EXPECT_EQ(to_line(record), R"({"id":")" + kId + R"("})");
  record.outputs.resize(1);
  record.outputs[0].golden.emplace();
  EXPECT_EQ(to_line(record).find("nan"), std::string::npos);
  const CaseRecord back = parse_line(to_line(record), "line");
  EXPECT_TRUE(std::isnan(back.outputs[0].comparison.required[0]));
  ASSERT_TRUE(back.outputs[0].golden);
  EXPECT_TRUE(std::isnan(back.outputs[0].golden->required));
}

TEST(EvidenceLine, NumbersThatAreNotFiniteAreStrings) {
  const std::string line = to_line(full_record(kId));
  EXPECT_NE(line.find(R"("worst":[17,"nan","-inf"])"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("g":"inf")"), std::string::npos) << line;
}

TEST(EvidenceLine, IsOneLineOfJsonWhateverTheMessageHolds) {
  CaseRecord record = full_record(kId);
  record.message = "two\nlines, bad UTF-8 \xff, and a NUL";
  record.message.back() = '\0';
  const std::string line = to_line(record);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_TRUE(Json::accept(line));
  EXPECT_EQ(parse_line(line, "line").message.substr(0, 10), "two\nlines,");
}

TEST(EvidenceLine, OneOutputFitsInSevenHundredBytes) {
  CaseRecord record = full_record(kId);
  record.stage = "done";
  record.message.clear();
  record.inert.clear();
  record.warnings.clear();
  record.golden_missing = record.golden_input_differs = false;
  record.outputs.resize(1);
  record.outputs[0].metrics.clear();                     // a program's
  record.observed.clear();
  record.observed_bits = 0;
  EXPECT_LT(to_line(record).size(), 700u);
}

TEST(EvidenceLine, BlanksBetweenTokensAreAllowed) {
  EXPECT_EQ(parse_line(R"( { "id" : "x" , "us" : [ 1 , 2 , 3 , 4 ] } )", "line").micros[3], 4);
}

TEST(EvidenceLine, EveryErrorNamesFileAndLine) {
  EXPECT_NE(error_of("{}").find("cases.jsonl:7: missing key 'id' [bad_evidence]"), std::string::npos) << error_of("{}");
}

TEST(EvidenceLine, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(error_of(R"({"id":"x"})"), "");
  EXPECT_EQ(error_of(with_output(R"(,"req":{"e":1,"g":"inf"},"bitwise":false)")), "");
  for (const std::string& line : {
           std::string(""), std::string("null"), std::string("[]"), std::string(R"({"id":"x")"), std::string(R"({"id":"x"}})"),
           std::string(R"({"id":"x"} {"id":"y"})"), std::string(R"({"id":"x",})"), std::string(R"({"id":"x","id":"y"})"),
           std::string(R"({"id":7})"), std::string(R"({"id":"x)"), std::string("{\"id\":\"x\ty\"}"), std::string(R"({"id":"\q"})"),
           std::string(R"({"id":"x","colour":"red"})"), std::string(R"({"id":"x","stage":"finished"})"),
           std::string(R"({"id":"x","golden_missing":1})"), std::string(R"({"id":"x","warnings":"slow"})"),
           std::string(R"({"id":"x","us":[1,2,3]})"), std::string(R"({"id":"x","us":[1,2,3,4,5]})"),
           std::string(R"({"id":"x","us":[1,2,3,-4]})"), std::string(R"({"id":"x","us":[1,2,3,4.5]})"),
           std::string(R"({"id":"x","us":[1,2,3,99999999999999999999]})"), std::string(R"({"id":"x","outputs":[{}]})"),
           with_output(R"(,"req":{"x":1})"), with_output(R"(,"req":[1,2,3,4])"), with_output(R"(,"req":{"g":null})"),
           with_output(R"(,"req":{"g":"1"})"), with_output(R"(,"req":{"g":0x10})"), with_output(R"(,"req":{"g":1e999})"),
           with_output(R"(,"req":{"g":+1})"), with_output(R"(,"req":{"g":-1})"), with_output(R"(,"req":{"g":"-inf"})"),
           with_output(R"(,"req":{"g":1.2.3})"), with_output(R"(,"req":{"g":03})"), with_output(R"(,"req":{"g":.5})"),
           with_output(R"(,"req":{"g":1.})"), with_output(R"(,"req":{"g":1e})"), std::string("{\"id\":\"\xff\"}"),
           std::string(R"({"id":"x","us":[1,2,3,04]})"), with_output(R"(,"req":{"g":1,"g":2})"), with_output(R"(,"worst":[1,2])"),
           with_output(R"(,"worst":[1,2,3,4])"), with_output(R"(,"worst":[-1,2,3])"), with_output(R"(,"golden":{"limit":3})"),
           with_output(R"(,"ulp":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17])"), with_output(R"(,"bound":"general")"),
       }) {
    EXPECT_EQ(error_name([&] { parse_line(line, "line"); }), "bad_evidence") << line;
  }
  std::string other = with_output("");
  other.replace(other.find("general"), 7, "vaguely");
  EXPECT_NE(error_of(other).find("unknown bound 'vaguely'"), std::string::npos);
}

}  // namespace
}  // namespace driftgate
