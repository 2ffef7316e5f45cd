#include "judge/tolerance.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>

#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kSchema = "driftgate.tolerances/1";
constexpr std::string_view kDecisionFile = "decision.json", kProfilesFile = "profiles.json";

Tier parse_tier(const std::string& text, const std::string& where) {
  for (const Tier tier : {Tier::strict, Tier::loose}) {
    if (name(tier) == text) return tier;
  }
  throw Error("bad_row", where, fmt::format("unknown tier '{}'", text), "strict or loose");
}

template <class Value>
std::vector<Value> parse_all(ObjectReader& in, const std::string& key, Value (*parse)(std::string_view, const std::string&)) {
  std::vector<Value> values;
  for (const std::string& text : in.strings(key, {})) values.push_back(parse(text, in.where(key)));
  return values;
}

RowMatch read_match(const Json& object, const std::string& where) {
  ObjectReader in(object, where);
  RowMatch match;
  match.families = in.strings("families", {});
  match.ops = in.strings("ops", {});
  match.not_ops = in.strings("not_ops", {});
  match.arguments = in.strings("arguments", {});
  match.policies = parse_all(in, "policies", parse_policy);
  match.directions = parse_all(in, "directions", parse_direction);
  match.bounds = parse_all(in, "bounds", parse_bound);
  match.cases = in.strings("cases", {});
  match.not_cases = in.strings("not_cases", {});
  in.finish();
  return match;
}

double finite_limit(double value, const std::string& where) {
  if (!(value >= 0 && std::isfinite(value)))
    throw Error("bad_row", where, fmt::format("{} is no limit", value), "a finite number of at least 0");
  return value;
}

std::map<std::string, double> read_measured(const Json& object, const std::string& where) {
  std::map<std::string, double> measured;
  for (const auto& [device, value] : object.items()) {
    measured[device] = finite_limit(as_number(value, where + "." + device), where + "." + device);
  }
  if (measured.empty())
    throw Error("bad_row", where, "no device was measured", "{\"cpu_avx2\": 5.1}: the largest `required` that it needed");
  return measured;
}

std::string text_of(ObjectReader& in, const std::string& key) {
  std::string text = in.string(key);
  if (text.find_first_not_of(' ') == std::string::npos) throw Error("bad_row", in.where(key), "must not be empty");
  return text;
}

std::string read_witness(ObjectReader& in) {
  std::string witness = in.string("witness");
  try {
    parse_case_id(witness);
  } catch (const Error& error) {
    throw Error("bad_row", in.where("witness"), error.what());
  }
  return witness;
}

ToleranceRow read_row(const Json& object, const std::string& where, const std::string& file) {
  ObjectReader in(object, where);
  ToleranceRow row;
  row.file = file;
  row.name = text_of(in, "row");
  row.match = read_match(in.object("match"), in.where("match"));
  row.limit = finite_limit(in.real("limit"), in.where("limit"));
  row.tier = parse_tier(in.string("tier", "strict"), in.where("tier"));
  row.loose_limit = finite_limit(in.real("loose_limit", row.loose_limit), in.where("loose_limit"));
  if (in.has("margin")) row.margin = finite_limit(in.real("margin"), in.where("margin"));
  row.why = text_of(in, "why");
  row.measured = read_measured(in.object("measured"), in.where("measured"));
  row.witness = read_witness(in);
  if (in.has("kill_rate")) {
    row.kill_rate = in.real("kill_rate");
    if (!(row.kill_rate >= 0 && row.kill_rate <= 1)) throw Error("bad_row", in.where("kill_rate"), "a rate lies between 0 and 1");
  }
  row.blunt = in.boolean("blunt", false);
  in.finish();
  return row;
}

void read_table(const std::filesystem::path& file, std::vector<ToleranceRow>& rows) {
  const std::string where = file.string();
  const Json document = read_json(file);
  ObjectReader in(document, where);
  if (const std::string schema = in.string("schema"); schema != kSchema) {
    throw Error("other_schema", where, fmt::format("schema '{}', expected '{}'", schema, kSchema));
  }
  std::size_t i = 0;
  for (const Json& object : in.array("rows")) rows.push_back(read_row(object, fmt::format("{}: rows[{}]", where, i++), where));
  in.finish();
}

template <class Value>
bool allows(const std::vector<Value>& list, const Value& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

bool any_glob(const std::vector<std::string>& globs, std::string_view text) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_match(glob, text); });
}

// u_out / u: how much coarser the policy's half format is than fp32.
double coarseness(Policy policy) { return unit_roundoff(computed_dtype(policy)) / unit_roundoff(DType::f32); }

}  // namespace

std::string_view name(Tier tier) { return tier == Tier::strict ? "strict" : "loose"; }

// The cheap tests come first: every row is asked for every case.
bool ToleranceRow::matches(const Case& c) const {
  return allows(match.policies, c.policy) && allows(match.directions, c.direction) && allows(match.bounds, c.bound()) &&
         allows(match.families, c.row->family) &&
         (match.ops.empty() || any_glob(match.ops, c.op_name())) && !any_glob(match.not_ops, c.op_name()) &&
         (match.arguments.empty() || any_glob(match.arguments, c.arguments->name)) &&
         (match.cases.empty() || any_glob(match.cases, c.input_key())) &&
         (match.not_cases.empty() || !any_glob(match.not_cases, c.input_key()));
}

double ToleranceRow::limit_at(Tier at, Policy policy) const {
  if (at == Tier::strict || policy == Policy::fp32) return limit;  // fp32 has no second tier
  return loose_limit * coarseness(policy);
}

ToleranceTable::ToleranceTable(std::vector<ToleranceRow> rows) : rows_(std::move(rows)) {
  std::map<std::string, const ToleranceRow*> known;
  for (const ToleranceRow& row : rows_) {
    const auto [other, fresh] = known.emplace(row.name, &row);
    if (!fresh) throw Error("duplicate_row", row.file, fmt::format("row '{}' is a row of {} too", row.name, other->second->file));
  }
}

bool holds_rows(const std::filesystem::path& file) {
  return file.extension() == ".json" && file.filename() != kDecisionFile && file.filename() != kProfilesFile;
}

ToleranceTable ToleranceTable::load(const std::filesystem::path& directory, const std::string& profile) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (holds_rows(entry.path())) files.push_back(entry.path());
  }
  if (error) throw Error("unreadable", directory.string(), error.message(), "name the folder of the tables with --tolerances");
  std::sort(files.begin(), files.end());
  std::vector<ToleranceRow> rows;
  for (const auto& file : files) read_table(file, rows);
  if (const std::filesystem::path file = directory / kProfilesFile; std::filesystem::exists(file)) {
    const auto read = std::make_shared<const ModelProfile>(ModelProfile::load(file, profile));
    for (ToleranceRow& row : rows) row.profile = read;
  }
  return ToleranceTable(std::move(rows));
}

const ToleranceRow& ToleranceTable::row_for(const Case& c) const {
  const ToleranceRow* found = nullptr;
  for (const ToleranceRow& row : rows_) {
    if (!row.matches(c)) continue;
    if (found) {
      throw Error("two_rows", c.id(),
                  fmt::format("both '{}' ({}) and '{}' ({}) match", found->name, found->file, row.name, row.file),
                  "exactly one row judges a case: narrow the match of one of them");
    }
    found = &row;
  }
  if (!found) throw Error("no_row", c.id(), "no tolerance row matches", "add a row, or widen the match of one");
  return *found;
}

}  // namespace driftgate
