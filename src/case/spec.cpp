#include "case/spec.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

#include "case/spec_argument.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kSchema = "driftgate.spec/1";
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 24;
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::string_view kSchemaCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ";

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// A name of our own: family, argument set.
std::string checked_name(std::string_view text, const std::string& where) {
  if (consists_of(text, kNameCharacters)) return std::string(text);
  throw Error("bad_name", where, fmt::format("'{}' is not a name", text), "a name is made of a-z, 0-9 and _");
}

std::string checked_op(std::string_view text, const std::string& where) {
  if (const std::optional<SuiteLevel> level = level_of(text)) {
    const std::string_view op = text.substr(text.find("::") + 2);
    const std::size_t dot = std::min(op.find('.'), op.size());
    const bool overload = dot == op.size() || (*level == SuiteLevel::op && consists_of(op.substr(dot + 1), kSchemaCharacters));
    const std::string_view characters = *level == SuiteLevel::op ? kSchemaCharacters : kNameCharacters;
    if (overload && consists_of(op.substr(0, dot), characters)) return std::string(text);
  }
  throw Error("bad_op", where, fmt::format("'{}' is not an op", text), "write aten::name, aten::name.overload, or model::, training::, preprocess:: and a program's name");
}

// A list of names without repetition; `parse` checks each.
template <class T>
std::vector<T> read_list(const Json& names, const std::string& where, T (*parse)(std::string_view, const std::string&)) {
  if (!names.is_array()) throw Error("wrong_type", where, "must be an array of strings");
  std::vector<T> list;
  for (const Json& name : names) {
    const std::string at = element(where, list.size());
    T item = parse(text_of(name, at), at);
    if (std::find(list.begin(), list.end(), item) != list.end()) {
      throw Error("duplicate_value", at, fmt::format("{} is listed twice", name.dump()));
    }
    list.push_back(std::move(item));
  }
  if (list.empty()) throw Error("empty_list", where, "the list is empty");
  return list;
}

// An optional word that has one meaning beside its absence.
bool read_word(ObjectReader& reader, const std::string& key, std::string_view word, std::string_view absent = "") {
  if (!reader.has(key)) return false;
  const std::string text = reader.string(key);
  if (text == word) return true;
  if (!absent.empty() && text == absent) return false;
  throw Error("bad_value", reader.where(key), fmt::format("unknown value '{}'", text), fmt::format("'{}' is known", word));
}

std::string read_why(ObjectReader& reader) {
  return reader.has("why") ? checked_why(reader.at("why"), reader.where("why")) : std::string();
}

double positive(const Json& value, const std::string& where) {
  if (!value.is_number()) throw Error("wrong_type", where, "must be a number");
  const double number = value.get<double>();
  if (!(number > 0) || !std::isfinite(number)) throw Error("bad_value", where, "must be more than 0");
  return number;
}

Terms read_terms(const Json& value, const std::string& where) {
  Terms terms;
  if (value.is_number()) {
    terms.for_all = positive(value, where);
  } else if (value.is_object()) {
    for (const auto& [output, number] : value.items()) {
      const std::string at = where + "." + output;
      terms.by_output[checked_argument(output, at)] = positive(number, at);
    }
    if (terms.by_output.empty()) throw Error("empty_list", where, "no output is named");
  } else if (!(value.is_string() && value == "ones")) {
    throw Error("bad_value", where, "must be \"ones\", a number, or a number for each output");
  }
  return terms;
}

// What a case may override. `square_weight` nullopt is "1/terms".
struct Overridable {
  Terms terms;
  std::optional<double> square_weight = 1;
  std::vector<Policy> policies;
};

// False when `key` is not one of them.
bool read_overridable(const std::string& key, const Json& value, const std::string& where, Overridable& values) {
  if (key == "terms") {
    values.terms = read_terms(value, where);
  } else if (key == "square_weight") {
    values.square_weight = value == "1/terms" ? std::nullopt : std::optional(positive(value, where));
  } else if (key == "policies") {
    values.policies = read_list(value, where, parse_policy);
  } else {
    return false;
  }
  return true;
}

// A key whose only use is to be there.
bool read_true(const Json& value, const std::string& where) {
  if (value == true) return true;
  throw Error("bad_value", where, "can only be true", "leave the key out");
}

ArgumentSet read_case(const std::string& name, const Json& value, Overridable defaults, const std::string& where) {
  if (!value.is_object()) throw Error("wrong_type", where, "must be an object of arguments");
  ArgumentSet set;
  set.name = checked_name(name, where);
  set.arguments.reserve(value.size());
  for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) {
    const std::string at = where + "." + key;
    if (read_overridable(key, item, at, defaults)) continue;
    if (key == "why") set.why = checked_why(item, at);
    else if (key == "tier") set.tier = parse_suite_tier(text_of(item, at), at);
    else if (key == "raises") set.raises = read_true(item, at);
    else if (key == "statistical") set.law = Law::parse(item, at);
    else set.arguments.emplace_back(checked_argument(key, at), read_argument(item, at));
  }
  if (set.arguments.empty()) throw Error("empty_list", where, "the case has no arguments");
  if (!defaults.square_weight && !defaults.terms.for_all) {
    throw Error("bad_value", where, "the square weight is 1/terms, but the terms are not a number");
  }
  set.square_weight = defaults.square_weight ? *defaults.square_weight : 1 / *defaults.terms.for_all;
  set.terms = std::move(defaults.terms);
  set.policies = std::move(defaults.policies);
  return set;
}

Allowance read_allowance(ObjectReader& row, const std::string& key) {
  Allowance allowance;
  if (!row.has(key)) return allowance;
  ObjectReader reader(row.object(key), row.where(key));
  const std::initializer_list<std::pair<const char*, double*>> parts = {
      {"constant", &allowance.constant}, {"abs_x", &allowance.abs_x},   {"inverse_x", &allowance.inverse_x},
      {"abs_g", &allowance.abs_g},       {"abs_xg", &allowance.abs_xg}, {"extent_max", &allowance.extent_max}};
  for (const auto& [part, target] : parts) {
    if (reader.has(part)) *target = positive(reader.at(part), reader.where(part));
  }
  allowance.why = checked_why(reader.at("why"), reader.where("why"));
  reader.finish();
  if (!allowance.any()) throw Error("empty_list", row.where(key), "nothing is allowed");
  return allowance;
}

void read_bound(ObjectReader& reader, Row& row) {
  if (!reader.at("bound").is_object()) {
    row.bound_forward = row.bound_backward = parse_bound(reader.string("bound"), reader.where("bound"));
    return;
  }
  ObjectReader both(reader.at("bound"), reader.where("bound"));
  row.bound_forward = parse_bound(both.string("forward"), both.where("forward"));
  row.bound_backward = parse_bound(both.string("backward"), both.where("backward"));
  both.finish();
}

// Samples are judged by a law, forward; nothing else is.
void check_law(const Row& row, const ObjectReader& reader) {
  const bool statistical = row.bound_forward == Bound::statistical;
  if (row.bound_backward == Bound::statistical && row.directions != std::vector{Direction::forward}) {
    throw Error("bad_value", reader.where("directions"), "the statistical bound has no backward direction");
  }
  for (const ArgumentSet& set : row.cases) {
    if (set.law.has_value() != statistical) {
      throw Error("bad_value", reader.where("cases") + "." + set.name + ".statistical", "the key \"statistical\" and the bound \"statistical\" need each other");
    }
  }
}

// One level a row, bounds that belong to it, and plain values as the settings of a program.
void check_level(const Row& row, const ObjectReader& reader) {
  const SuiteLevel level = row.level();
  for (std::size_t i = 0; i < row.ops.size(); ++i) {
    if (level_of(row.ops[i]) == level) continue;
    throw Error("bad_op", element(reader.where("ops"), i), fmt::format("'{}' and '{}' are of two levels", row.ops.front(), row.ops[i]), "give each its own row");
  }
  for (const Direction direction : row.directions) {
    const Bound bound = row.bound(direction);
    if (level == SuiteLevel::op ? bound > Bound::statistical : bound != Bound::exact && bound <= Bound::statistical) {
      throw Error("bad_value", reader.where("bound"), fmt::format("the bound {} is not for cases of level {}", name(bound), name(level)));
    }
  }
  if (level == SuiteLevel::op) return;
  for (const ArgumentSet& set : row.cases) {
    for (const auto& [key, argument] : set.arguments) {
      if (std::holds_alternative<Json>(argument)) continue;
      throw Error("wrong_type", reader.where("cases") + "." + set.name + "." + key, "a setting of a program is a plain value, and it declares its tensors itself");
    }
  }
}

// A misspelt name in `grad` would drop a gradient without a word.
void check_grad(const Row& row, const std::string& where) {
  for (const std::string& name : row.grad.value_or(std::vector<std::string>())) {
    const bool known = std::any_of(row.cases.begin(), row.cases.end(), [&](const ArgumentSet& set) {
      return std::any_of(set.arguments.begin(), set.arguments.end(), [&](const auto& argument) {
        return argument.first == name && !std::holds_alternative<Json>(argument.second);
      });
    });
    if (!known) throw Error("unknown_argument", where, fmt::format("no case has a tensor '{}'", name));
  }
}

Row read_row(const Json& document, const std::string& file, const std::string& where) {
  ObjectReader reader(document, where);
  Row row;
  row.file = file;
  row.family = checked_name(reader.string("family"), reader.where("family"));
  row.ops = read_list(reader.at("ops"), reader.where("ops"), checked_op);
  read_bound(reader, row);
  row.directions = read_list(reader.at("directions"), reader.where("directions"), parse_direction);
  if (reader.has("grad")) row.grad = read_list(reader.at("grad"), reader.where("grad"), checked_argument);
  row.allow = read_allowance(reader, "allow");
  row.allow_backward = read_allowance(reader, "allow_backward");
  row.signed_zero = reader.boolean("signed_zero", false);
  row.gather_indices = read_word(reader, "indices", "gather");
  row.repeat_bitwise = !read_word(reader, "repeat", "within_limit", "bitwise");
  row.inert = reader.strings("inert", {});
  row.no_twins = reader.strings("no_twins", {});
  row.as_it_is = reader.strings("as_it_is", {});
  row.host = reader.strings("host", {});
  row.cudnn = reader.boolean("cudnn", true);
  row.smoke = reader.boolean("smoke", false);
  row.why = read_why(reader);
  reader.at("policies");
  Overridable defaults;
  for (const char* key : {"policies", "terms", "square_weight"}) {
    if (reader.has(key)) read_overridable(key, reader.at(key), reader.where(key), defaults);
  }
  row.cases.reserve(reader.object("cases").size());
  for (const auto& [name, value] : reader.object("cases").items()) {
    row.cases.push_back(read_case(name, value, defaults, reader.where("cases") + "." + name));
  }
  reader.finish();
  if (row.cases.empty()) throw Error("empty_list", reader.where("cases"), "the row has no cases");
  check_grad(row, reader.where("grad"));
  check_law(row, reader);
  check_level(row, reader);
  return row;
}

}  // namespace

std::vector<Row> parse_specs(const Json& document, const std::string& where) {
  ObjectReader reader(document, where);
  if (reader.string("schema") != kSchema) {
    throw Error("wrong_schema", reader.where("schema"), fmt::format("must be \"{}\"", kSchema));
  }
  std::vector<Row> rows;
  for (const Json& row : reader.array("rows")) {
    rows.push_back(read_row(row, where, element(reader.where("rows"), rows.size())));
  }
  reader.finish();
  if (rows.empty()) throw Error("empty_list", reader.where("rows"), "the file has no rows");
  return rows;
}

std::vector<Row> read_specs(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".json") files.push_back(entry->path());
  }
  if (error) throw Error("unreadable", directory.generic_string(), error.message());
  if (files.empty()) throw Error("no_specs", directory.generic_string(), "no *.json below this directory");
  std::sort(files.begin(), files.end());
  std::vector<Row> rows;
  for (const std::filesystem::path& file : files) {
    std::vector<Row> more = parse_specs(read_json(file, kMostBytes), file.generic_string());
    std::move(more.begin(), more.end(), std::back_inserter(rows));
  }
  return rows;
}

}  // namespace driftgate
