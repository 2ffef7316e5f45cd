#include "sim/fault.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "case/case.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::array<std::string_view, 7> kLayouts = {"noncontiguous", "contiguous", "stepped", "offset", "expanded", "channels_last", "any"};
constexpr std::array<std::string_view, 3> kRelations = {"square", "rows_lt_cols", "broadcast"};
constexpr std::array<std::string_view, 6> kValues = {"any_nan", "any_inf", "any_subnormal", "any_negative_zero", "any_negative", "all_equal"};
constexpr std::array<std::string_view, 36> kKinds = {
    "ignore_strides", "ignore_offset", "write_lost", "write_outside", "scale", "add_ulps", "round_inputs", "round_output", "truncate_output",
    "accumulate_in", "drop_last_term", "zero_output", "nan_output", "stale_output", "wrong_element", "transpose_output", "swap_top2",
    "nan_to_zero", "zero_to_nan", "flush_subnormals", "ignore_argument", "wrong_cast", "int_wrap", "reuse_first_result",
    "read_uninitialized", "nondeterministic", "no_reseed", "same_samples", "no_error_on_bad_index", "no_error_on_bad_argument",
    "wrong_shape", "raise", "abort", "hang", "cpu_fallback", "leak"};

// Both the specs' words and torch's own.
constexpr std::pair<std::string_view, DType> kTorchNames[] = {
    {"float16", DType::f16}, {"half", DType::f16},  {"fp16", DType::f16},   {"bfloat16", DType::bf16},  {"float32", DType::f32},
    {"float", DType::f32},   {"fp32", DType::f32},  {"float64", DType::f64}, {"double", DType::f64},     {"fp64", DType::f64},
    {"int8", DType::i8},     {"uint8", DType::u8},  {"int16", DType::i16},  {"int32", DType::i32},      {"int", DType::i32},
    {"int64", DType::i64},   {"long", DType::i64},  {"complex64", DType::c64}, {"complex128", DType::c128}};

template <class Enum, std::size_t N>
Enum word(const std::string& text, const std::array<std::string_view, N>& words, const std::string& where) {
  const auto found = std::find(words.begin(), words.end(), text);
  if (found != words.end()) return static_cast<Enum>(found - words.begin());
  std::string known;
  for (const std::string_view candidate : words) known.append(known.empty() ? "" : ", ").append(candidate);
  throw Error("bad_fault", where, "'" + text + "' is not known", "use one of " + known);
}

DType dtype_word(std::string text, const std::string& where) {
  if (text.rfind("torch.", 0) == 0) text = text.substr(6);
  if (const auto dtype = parse_dtype(text)) return *dtype;
  for (const auto& [known, dtype] : kTorchNames)
    if (known == text) return dtype;
  throw Error("bad_fault", where, "'" + text + "' is not a dtype");
}

std::int64_t within(std::int64_t value, std::int64_t least, std::int64_t most, const std::string& where) {
  if (value >= least && value <= most) return value;
  throw Error("bad_fault", where, std::to_string(value) + " is not within " + std::to_string(least) + " and " + std::to_string(most));
}

std::optional<std::int64_t> count(ObjectReader& reader, const std::string& key, std::int64_t least) {
  if (!reader.has(key)) return std::nullopt;
  return within(reader.integer(key), least, std::int64_t{1} << 40, reader.where(key));
}

std::optional<bool> flag(ObjectReader& reader, const std::string& key) {
  if (!reader.has(key)) return std::nullopt;
  return reader.boolean(key, false);
}

std::string text(ObjectReader& reader, const std::string& key) {
  const std::string value = reader.string(key);
  if (value.empty()) throw Error("bad_fault", reader.where(key), "must not be empty");
  return value;
}

void read_sizes(ObjectReader& reader, const std::string& key, SizeRule::Kind kind, std::vector<SizeRule>& into) {
  if (!reader.has(key)) return;
  const Json& given = reader.at(key);
  const Json list = given.is_array() ? given : Json::array({given});
  for (const Json& item : list) {
    ObjectReader rule(item, reader.where(key));
    const std::int64_t dim = within(rule.integer("dim"), -64, 63, rule.where("dim"));
    const std::int64_t least = kind == SizeRule::Kind::not_divisible ? 1 : 0;
    into.push_back({kind, dim, within(rule.integer("size"), least, std::int64_t{1} << 40, rule.where("size"))});
    rule.finish();
  }
}

void read_value(ObjectReader& reader, When& when) {
  if (!reader.has("value")) return;
  const Json& given = reader.at("value");
  if (given.is_string()) {
    when.value = word<ValueRule>(given.get<std::string>(), kValues, reader.where("value"));
    return;
  }
  ObjectReader rule(given, reader.where("value"));
  when.value = ValueRule::any_above;
  when.above = rule.real("any_above");
  rule.finish();
}

void read_attribute(ObjectReader& reader, When& when) {
  if (!reader.has("attribute")) return;
  ObjectReader rule(reader.object("attribute"), reader.where("attribute"));
  when.attribute = text(rule, "name");
  when.attribute_equals = rule.at("equals");
  if (when.attribute_equals.is_object()) throw Error("wrong_type", rule.where("equals"), "must be a scalar, a list or \"nondefault\"");
  rule.finish();
}

void read_call(ObjectReader& reader, When& when) {
  if (!reader.has("call")) return;
  ObjectReader rule(reader.object("call"), reader.where("call"));
  when.nth = count(rule, "nth", 1);
  when.every = count(rule, "every", 1);
  if (when.nth.has_value() == when.every.has_value()) throw Error("bad_fault", reader.where("call"), "needs one of nth and every");
  rule.finish();
}

When read_when(const Json& document, const std::string& where) {
  ObjectReader reader(document, where);
  When when;
  when.arg = count(reader, "arg", 0);
  if (reader.has("dtype"))
    for (const std::string& dtype : reader.strings("dtype")) when.dtypes.push_back(dtype_word(dtype, reader.where("dtype")));
  if (reader.has("layout")) when.layout = word<OperandLayout>(reader.string("layout"), kLayouts, reader.where("layout"));
  when.ndim_at_least = count(reader, "ndim_at_least", 0);
  when.ndim_equals = count(reader, "ndim_equals", 0);
  when.min_numel = count(reader, "min_numel", 0);
  read_sizes(reader, "size_at_least", SizeRule::Kind::at_least, when.sizes);
  read_sizes(reader, "size_at_most", SizeRule::Kind::at_most, when.sizes);
  read_sizes(reader, "size_equals", SizeRule::Kind::equals, when.sizes);
  read_sizes(reader, "not_divisible", SizeRule::Kind::not_divisible, when.sizes);
  if (reader.has("relation")) when.relation = word<Relation>(reader.string("relation"), kRelations, reader.where("relation"));
  when.absent = flag(reader, "absent");
  read_value(reader, when);
  when.mixed_dtype = flag(reader, "mixed_dtype");
  when.inplace = flag(reader, "inplace");
  when.new_shape = flag(reader, "new_shape");
  if (reader.has("arg_device")) {
    const std::string device = reader.string("arg_device");
    if (device != "cpu") throw Error("bad_fault", reader.where("arg_device"), "'" + device + "' is not known", "use cpu");
    when.on_cpu = true;
  }
  if (reader.has("grad_mode")) {
    constexpr std::array<std::string_view, 2> kModes = {"off", "on"};
    when.grad_mode = word<int>(reader.string("grad_mode"), kModes, reader.where("grad_mode")) == 1;
  }
  if (reader.has("inside")) when.inside = text(reader, "inside");
  if (reader.has("after_op")) when.after_op = text(reader, "after_op");
  read_attribute(reader, when);
  read_call(reader, when);
  reader.finish();
  return when;
}

Effect read_effect(const Json& document, const std::string& where) {
  ObjectReader reader(document, where);
  Effect effect;
  effect.kind = word<EffectKind>(reader.string("kind"), kKinds, reader.where("kind"));
  effect.output = count(reader, "output", 0);
  const auto amount = [&](const char* key, std::int64_t least, std::int64_t most) {
    effect.amount = within(reader.integer(key), least, most, reader.where(key));
  };
  switch (effect.kind) {
    case EffectKind::scale: effect.by = reader.real("by"); break;
    case EffectKind::add_ulps: amount("ulps", -(std::int64_t{1} << 40), std::int64_t{1} << 40); break;
    case EffectKind::round_inputs:
    case EffectKind::round_output: amount("bits", 1, 53); break;
    case EffectKind::int_wrap: amount("bits", 1, 63); break;
    case EffectKind::leak: amount("bytes", 1, std::int64_t{1} << 32); break;
    case EffectKind::accumulate_in: effect.dtype = dtype_word(reader.string("dtype"), reader.where("dtype")); break;
    case EffectKind::ignore_argument: effect.argument = text(reader, "name"); break;
    case EffectKind::wrong_element:
      effect.from_index = reader.has("from_index");
      amount(effect.from_index ? "from_index" : "index", -(std::int64_t{1} << 40), std::int64_t{1} << 40);
      break;
    default: break;
  }
  if (effect.kind == EffectKind::accumulate_in && !is_float(effect.dtype))
    throw Error("bad_fault", reader.where("dtype"), "must be a floating dtype");
  reader.finish();
  return effect;
}

}  // namespace

std::string_view name(EffectKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

std::vector<Fault> parse_faults(const Json& document, const std::string& where) {
  ObjectReader file(document, where);
  std::vector<Fault> faults;
  std::set<std::string> names;
  std::size_t index = 0;
  for (const Json& item : file.array("faults")) {
    ObjectReader reader(item, where + ": faults[" + std::to_string(index++) + "]");
    Fault fault;
    fault.name = text(reader, "name");
    fault.op = text(reader, "op");
    if (reader.has("when")) fault.when = read_when(reader.object("when"), reader.where("when"));
    fault.effect = read_effect(reader.object("effect"), reader.where("effect"));
    fault.id = reader.string("id", "");
    fault.klass = reader.string("class", "");
    fault.note = reader.string("note", "");
    reader.finish();
    if (!names.insert(fault.name).second) throw Error("duplicate_fault", reader.where("name"), "'" + fault.name + "' is given twice");
    faults.push_back(std::move(fault));
  }
  file.finish();
  return faults;
}

std::vector<Fault> read_faults(const std::filesystem::path& file) {
  return parse_faults(read_json(file, std::uint64_t{1} << 24), file.string());
}

bool any_glob_matches(std::string_view globs, std::string_view text) {
  while (true) {
    const std::size_t end = globs.find('|');
    if (glob_match(globs.substr(0, end), text)) return true;
    if (end == std::string_view::npos) return false;
    globs.remove_prefix(end + 1);
  }
}

}  // namespace driftgate
