// The format of one line of cases.jsonl: docs/schema/evidence.schema.json explains the keys.
//
// A key is left out where the record holds what a fresh record holds. So an absent number (NaN) costs nothing, and a NaN that
// was measured, where a fresh record holds 0, is written as "nan".
#include <algorithm>
#include <array>
#include <cmath>

#include "error.hpp"
#include "evidence/evidence.hpp"
#include "evidence/line_reader.hpp"

namespace driftgate {
namespace {

using BoundValues = std::array<double, kBounds>;

constexpr std::array<std::string_view, kBounds> kBoundKeys = {"e", "p", "l", "g", "s", "r", "n", "v"};  // as in case/spec.hpp

// The numbers of a record that are read and written alike.
template <class Record, class Number>
struct Key {
  std::string_view key;
  Number Record::*member;
};
constexpr std::array<Key<GoldenRecord, double>, 7> kGoldenKeys = {{{"req", &GoldenRecord::required},
                                                                   {"direct", &GoldenRecord::direct},
                                                                   {"rms", &GoldenRecord::rms_error},
                                                                   {"mine", &GoldenRecord::candidate_rms_error},
                                                                   {"spread", &GoldenRecord::spread},
                                                                   {"tf32", &GoldenRecord::tf32_required},
                                                                   {"gap", &GoldenRecord::reference_gap}}};
constexpr std::array<Key<Comparison, double>, 4> kErrorKeys = {{{"max", &Comparison::max_error},
                                                                {"rms", &Comparison::rms_error},
                                                                {"ref", &Comparison::rms_reference},
                                                                {"p999", &Comparison::p999}}};
constexpr std::array<Key<Comparison, std::int64_t>, 2> kCountKeys = {
    {{"differ", &Comparison::differing}, {"nonfinite", &Comparison::nonfinite_mismatch}}};

constexpr std::array<std::string_view, 9> kStages = {"done",        "unsupported", "raised",    "out_of_memory",
                                                     "wrong_shape", "side_effect", "crashed",     "timed_out", "no_reference"};

void put(Json& object, std::string_view key, double value, double fresh) {
  const bool same = value == fresh || (std::isnan(value) && std::isnan(fresh));
  if (!same) object[std::string(key)] = number(value);
}

template <class T>
void put(Json& object, std::string_view key, const T& value, const T& fresh) {
  if (value != fresh) object[std::string(key)] = value;
}

template <class Keys, class Record>
void put_all(Json& object, const Keys& keys, const Record& record) {
  const Record fresh;
  for (const auto& [key, member] : keys) put(object, key, record.*member, fresh.*member);
}

void put_bounds(Json& object, std::string_view key, const BoundValues& values) {
  Json given = Json::object();
  for (int b = 0; b < kBounds; ++b) put(given, kBoundKeys[b], values[b], kAbsent);
  if (!given.empty()) object[std::string(key)] = std::move(given);
}

Json histogram(const std::array<std::int64_t, kUlpBins>& bins) {
  const auto last = std::find_if(bins.rbegin(), bins.rend(), [](std::int64_t n) { return n != 0; });
  return std::vector<std::int64_t>(bins.begin(), last.base());
}

Json to_json(const OutputRecord& output) {
  const Comparison& c = output.comparison;
  Json object = {
      {"name", output.name}, {"dtype", output.dtype}, {"shape", output.shape}, {"bound", name(output.bound)}, {"n", c.count}};
  put_all(object, kCountKeys, c);
  put_bounds(object, "req", c.required);
  put(object, "zeros", c.zeros_required, kAbsent);
  put_all(object, kErrorKeys, c);
  if (c.worst >= 0) object["worst"] = {c.worst, number(c.worst_got), number(c.worst_want)};
  Json bins = histogram(c.ulp_histogram);
  if (!bins.empty()) object["ulp"] = std::move(bins);
  if (output.golden) put_all(object["golden"] = Json::object(), kGoldenKeys, *output.golden);
  for (const auto& [metric, value] : output.metrics) object["metrics"][metric] = number(value);
  put(object, "repeat", output.repeat, 0);
  put(object, "bitwise", output.repeat_bitwise, true);
  return object;
}

BoundValues read_bounds(LineReader& in) {
  BoundValues values;
  values.fill(kAbsent);
  in.object({}, [&](std::string_view key) {
    const auto found = std::find(kBoundKeys.begin(), kBoundKeys.end(), key);
    if (found == kBoundKeys.end()) return false;
    values[found - kBoundKeys.begin()] = in.measure();
    return true;
  });
  return values;
}

Bound read_bound(LineReader& in) {
  const std::string text = in.string();
  for (int b = 0; b < kBounds; ++b) {
    if (name(static_cast<Bound>(b)) == text) return static_cast<Bound>(b);
  }
  in.fail("unknown bound '" + text + "'");
}

std::vector<std::string> read_strings(LineReader& in) {
  std::vector<std::string> strings;
  in.array([&] { strings.push_back(in.string()); });
  return strings;
}

// At least `least` and at most N whole numbers.
template <std::size_t N>
std::array<std::int64_t, N> read_counts(LineReader& in, std::size_t least) {
  std::array<std::int64_t, N> counts{};
  std::size_t n = 0;
  in.array([&] {
    if (n == N) in.fail("too many numbers in an array");
    counts[n++] = in.count();
  });
  if (n < least) in.fail("too few numbers in an array");
  return counts;
}

void read_worst(LineReader& in, Comparison& c) {
  int n = 0;
  in.array([&] {
    if (n == 0) c.worst = in.count();
    if (n == 1) c.worst_got = in.real();
    if (n == 2) c.worst_want = in.real();
    if (n++ > 2) in.fail("worst: more than three numbers");
  });
  if (n != 3) in.fail("worst: fewer than three numbers");
}

void read(LineReader& in, double& value) { value = in.measure(); }
void read(LineReader& in, std::int64_t& value) { value = in.count(); }

template <class Keys, class Record>
bool read_any(LineReader& in, std::string_view key, const Keys& keys, Record& record) {
  const auto found = std::find_if(keys.begin(), keys.end(), [&](const auto& k) { return k.key == key; });
  if (found == keys.end()) return false;
  read(in, record.*(found->member));
  return true;
}

GoldenRecord read_golden(LineReader& in) {
  GoldenRecord golden;
  in.object({}, [&](std::string_view key) { return read_any(in, key, kGoldenKeys, golden); });
  return golden;
}

OutputRecord read_output(LineReader& in) {
  OutputRecord output;
  Comparison& c = output.comparison;
  in.object({"name", "dtype", "shape", "bound", "n"}, [&](std::string_view key) {
    if (key == "name")
      output.name = in.string();
    else if (key == "dtype")
      output.dtype = in.string();
    else if (key == "shape")
      in.array([&] { output.shape.push_back(in.count()); });
    else if (key == "bound")
      output.bound = read_bound(in);
    else if (key == "n")
      c.count = in.count();
    else if (key == "req")
      c.required = read_bounds(in);
    else if (key == "zeros")
      c.zeros_required = in.measure();
    else if (key == "worst")
      read_worst(in, c);
    else if (key == "ulp")
      c.ulp_histogram = read_counts<kUlpBins>(in, 0);
    else if (key == "golden")
      output.golden = read_golden(in);
    else if (key == "metrics")
      in.object({}, [&](std::string_view metric) {
        output.metrics[std::string(metric)] = in.real();
        return true;
      });
    else if (key == "repeat")
      output.repeat = in.measure();
    else if (key == "bitwise")
      output.repeat_bitwise = in.boolean();
    else
      return read_any(in, key, kCountKeys, c) || read_any(in, key, kErrorKeys, c);
    return true;
  });
  return output;
}

}  // namespace

std::string to_line(const CaseRecord& record) {
  const CaseRecord fresh;
  Json object = {{"id", record.id}};
  put(object, "stage", record.stage, fresh.stage);
  put(object, "message", record.message, fresh.message);
  put(object, "input", record.input_digest, fresh.input_digest);
  put(object, "golden_missing", record.golden_missing, fresh.golden_missing);
  put(object, "golden_input_differs", record.golden_input_differs, fresh.golden_input_differs);
  put(object, "inert", record.inert, fresh.inert);
  put(object, "warnings", record.warnings, fresh.warnings);
  put(object, "observed", record.observed, fresh.observed);
  put(object, "observed_bits", record.observed_bits, fresh.observed_bits);
  for (const OutputRecord& output : record.outputs) object["outputs"].push_back(to_json(output));
  put(object, "us", record.micros, fresh.micros);
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);  // messages of torch need not be UTF-8
}

CaseRecord parse_line(std::string_view line, const std::string& where) {
  LineReader in(line, where);
  CaseRecord record;
  in.object({"id"}, [&](std::string_view key) {
    if (key == "id")
      record.id = in.string();
    else if (key == "stage")
      record.stage = in.string();
    else if (key == "message")
      record.message = in.string();
    else if (key == "input")
      record.input_digest = in.string();
    else if (key == "golden_missing")
      record.golden_missing = in.boolean();
    else if (key == "golden_input_differs")
      record.golden_input_differs = in.boolean();
    else if (key == "inert")
      record.inert = read_strings(in);
    else if (key == "warnings")
      record.warnings = read_strings(in);
    else if (key == "observed")
      in.object({}, [&](std::string_view dtype) {
        record.observed[std::string(dtype)] = in.count();
        return true;
      });
    else if (key == "observed_bits")
      record.observed_bits = in.count();
    else if (key == "outputs")
      in.array([&] { record.outputs.push_back(read_output(in)); });
    else if (key == "us")
      record.micros = read_counts<4>(in, 4);
    else
      return false;
    return true;
  });
  in.finish();
  if (std::find(kStages.begin(), kStages.end(), record.stage) == kStages.end()) in.fail("unknown stage '" + record.stage + "'");
  return record;
}

}  // namespace driftgate
