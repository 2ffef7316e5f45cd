#include "case/spec_argument.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;
constexpr std::string_view kSchemaCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ";

Shape read_shape(const Json& sizes, const std::string& where) {
  if (!sizes.is_array()) throw Error("wrong_type", where, "must be an array of sizes");
  Shape shape;
  shape.reserve(sizes.size());
  std::int64_t elements = 1;
  for (const Json& value : sizes) {
    if (!value.is_number_integer()) throw Error("wrong_type", element(where, shape.size()), "a size must be a whole number");
    const auto size = value.get<std::int64_t>();                       // above 2^63 - 1 it reads as negative
    const std::int64_t factor = std::max<std::int64_t>(size, 1);       // an empty dim must not excuse the others
    if (size < 0) throw Error("bad_shape", element(where, shape.size()), "a size must be 0 .. 2^31");
    if (factor > kMostElements / elements) throw Error("bad_shape", where, "the tensor has more than 2^31 elements");
    elements *= factor;
    shape.push_back(size);
  }
  return shape;
}

DType read_dtype(const Json& value, const std::string& where) {
  const std::string& text = text_of(value, where);
  if (const std::optional<DType> dtype = parse_dtype(text)) return *dtype;
  throw Error("bad_dtype", where, fmt::format("unknown dtype '{}'", text));
}

std::vector<double> read_values(const Json& list, const std::string& where) {
  if (!list.is_array()) throw Error("wrong_type", where, "must be an array of numbers");
  if (list.empty()) throw Error("empty_list", where, "the list is empty");
  std::vector<double> values;
  for (const Json& value : list) values.push_back(as_number(value, element(where, values.size())));
  return values;
}

TensorArgument read_tensor(const Json& value, const std::string& where) {
  if (!value.is_object()) throw Error("wrong_type", where, "must be a tensor: an object with shape and fill");
  for (const char* key : {"shape", "fill"}) {
    if (!value.contains(key)) throw Error("missing_key", where + "." + key, "a tensor needs it");
  }
  TensorArgument tensor;
  std::vector<double> values;
  for (const auto& [key, item] : value.get_ref<const Json::object_t&>()) {
    const std::string at = where + "." + key;
    if (key == "shape") tensor.shape = read_shape(item, at);
    else if (key == "fill") tensor.fill = parse_fill(text_of(item, at), at);
    else if (key == "dtype") tensor.dtype = read_dtype(item, at);
    else if (key == "values") values = read_values(item, at);
    else if (key == "why") checked_why(item, at);
    else throw Error("unknown_key", at, "a tensor has no such key", "known keys: shape, fill, dtype, values, why");
  }
  if (values.empty() != (tensor.fill.domain != "values")) {
    throw Error("bad_value", where + ".values", "\"values\" and the fill \"values\" need each other");
  }
  tensor.fill.values = std::move(values);
  return tensor;
}

bool resembles_tensor(const Json& value) { return value.is_object() && (value.contains("shape") || value.contains("fill")); }

}  // namespace

Argument read_argument(const Json& value, const std::string& where) {
  if (resembles_tensor(value)) return read_tensor(value, where);
  if (!value.is_array() || std::none_of(value.begin(), value.end(), resembles_tensor)) return value;
  std::vector<TensorArgument> list;
  for (const Json& member : value) list.push_back(read_tensor(member, element(where, list.size())));
  return list;
}

std::string checked_argument(std::string_view text, const std::string& where) {
  if (!text.empty() && text.find_first_not_of(kSchemaCharacters) == std::string_view::npos) return std::string(text);
  throw Error("bad_name", where, fmt::format("'{}' is not the name of an argument", text));
}

std::string checked_why(const Json& value, const std::string& where) {
  const std::string& text = text_of(value, where);
  if (text.empty()) throw Error("bad_value", where, "the reason is empty");
  return text;
}

const std::string& text_of(const Json& value, const std::string& where) {
  if (value.is_string()) return value.get_ref<const std::string&>();
  throw Error("wrong_type", where, "must be a string");
}

std::string element(const std::string& where, std::size_t index) { return where + "[" + std::to_string(index) + "]"; }

}  // namespace driftgate
