#include "pt2/schema.hpp"

#include <algorithm>
#include <array>

#include "error.hpp"

namespace driftgate {

DType exported_dtype(std::int64_t number, const std::string& where) {
  switch (number) {
    case 1: return DType::u8;
    case 2: return DType::i8;
    case 3: return DType::i16;
    case 4: return DType::i32;
    case 5: return DType::i64;
    case 6: return DType::f16;
    case 7: return DType::f32;
    case 8: return DType::f64;
    case 10: return DType::c64;
    case 11: return DType::c128;
    case 12: return DType::boolean;
    case 13: return DType::bf16;
    default: throw Error("unsupported_dtype", where, "dtype number " + std::to_string(number) + " of the export schema cannot be compared");
  }
}

std::pair<std::string, Json> read_union(const Json& value, const std::string& where) {
  if (!value.is_object() || value.size() != 1) throw Error("wrong_type", where, "needs an object of one key");
  return {value.begin().key(), value.begin().value()};
}

std::string name_in(const Json& value, const std::string& where) {
  ObjectReader reader(value, where);
  std::string name = reader.string("name");
  reader.finish();
  if (name.empty()) throw Error("bad_program", where, "a name without letters");
  return name;
}

ExportedResult read_result(const Json& value, const std::string& where) {
  const auto [kind, content] = read_union(value, where);
  if (kind == "as_none") return {};
  if (kind == "as_tensor") return {{name_in(content, where)}, false};
  if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return {{ObjectReader(content, where).string("as_name")}, false};
  if (kind != "as_tensors" || !content.is_array()) throw Error("unsupported_program", where, "a result of kind '" + kind + "'");
  ExportedResult result{{}, true};
  for (const Json& item : content) result.names.push_back(name_in(item, where));
  return result;
}

bool is_argument_kind(const std::string& kind) {
  static constexpr std::array kKinds = {
      "as_none",     "as_tensor",      "as_tensors",       "as_optional_tensor", "as_optional_tensors", "as_int",     "as_ints",      "as_float",     "as_floats",
      "as_bool",     "as_bools",       "as_string",        "as_strings",         "as_sym_int",          "as_sym_ints", "as_sym_float", "as_sym_floats", "as_sym_bool",
      "as_sym_bools", "as_scalar_type", "as_memory_format", "as_layout",          "as_device",           "as_complex"};
  return std::find(kKinds.begin(), kKinds.end(), kind) != kKinds.end();
}

// "L__self__,,__main__.M;L__self__c,c,torch.nn.modules.conv.Conv2d": the path of the last module.
std::string layer_of(const Json& metadata) {
  const auto stack = metadata.find("nn_module_stack");
  if (stack == metadata.end() || !stack->is_string()) return "";
  std::string last = stack->get<std::string>();
  last = last.substr(last.rfind(';') + 1);
  const std::size_t first = last.find(','), second = first == std::string::npos ? first : last.find(',', first + 1);
  return second == std::string::npos ? "" : last.substr(first + 1, second - first - 1);
}

}  // namespace driftgate
