#include "pt2/arguments.hpp"

#include <ATen/ATen.h>

#include <limits>

#include "device/operator.hpp"
#include "device/torch_types.hpp"
#include "error.hpp"
#include "pt2/schema.hpp"

namespace driftgate {
namespace {

constexpr std::int64_t kScalarTypes = 36, kMemoryFormats = 5;

class Converter {
 public:
  Converter(const ExportedArgument& argument, const Values& values, const RunsOn& on, std::string where)
      : argument_(argument), values_(values), on_(on), where_(std::move(where)) {}

  c10::IValue convert(const c10::TypePtr& formal) const {
    const std::string& kind = argument_.kind;
    const Json& value = argument_.value;
    if (const auto optional = formal->cast<c10::OptionalType>()) return kind == "as_none" ? c10::IValue() : convert(optional->getElementType());
    if (kind == "as_tensor") return tensor(value);
    if (kind == "as_optional_tensor") return optional_tensor(value);
    if (kind == "as_tensors" || kind == "as_optional_tensors") return tensors(formal);
    if (kind == "as_device") return on_.device;
    if (kind == "as_layout") return layout(value);
    if (kind == "as_memory_format") return memory_format(value);
    if (kind == "as_scalar_type") return dtype(value);
    if (kind == "as_string") return text(value);
    if (kind == "as_strings") return list<std::string>([this](const Json& item) { return text(item); });
    if (formal->kind() == c10::TypeKind::ListType) return numbers(formal->expectRef<c10::ListType>().getElementType());
    return fitted(number(kind, value), formal);
  }

  // as_int, as_float, as_bool, as_complex and the symbolic ones.
  c10::IValue number(const std::string& kind, const Json& value) const {
    if (kind == "as_int") return integer(value);
    if (kind == "as_float") return real(value);
    if (kind == "as_bool") return boolean(value);
    if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") return symbol(value);
    if (kind == "as_complex") {
      ObjectReader reader(value, where_);
      const double real_part = real(reader.at("real"));
      return c10::IValue(c10::complex<double>(real_part, real(reader.at("imag"))));
    }
    throw bad("a number, not " + kind);
  }

 private:
  Error bad(const std::string& wanted) const { return Error("bad_argument", where_, "needs " + wanted + ", has " + argument_.kind + " " + argument_.value.dump().substr(0, 80)); }

  const c10::IValue& named(const std::string& name) const {
    const auto found = values_.find(name);
    if (found == values_.end()) throw Error("bad_program", where_, "takes '" + name + "', which nothing has made before");
    return found->second;
  }
  at::Tensor tensor(const Json& value) const {
    const c10::IValue& found = named(name_in(value, where_));
    if (!found.isTensor()) throw bad("a tensor");
    return found.toTensor();
  }
  c10::IValue optional_tensor(const Json& value) const {
    const auto [kind, content] = read_union(value, where_);
    return kind == "as_none" ? c10::IValue() : c10::IValue(tensor(content));
  }
  c10::IValue tensors(const c10::TypePtr& formal) const {
    if (formal->kind() != c10::TypeKind::ListType || !argument_.value.is_array()) throw bad(formal->str());
    const bool optionals = formal->expectRef<c10::ListType>().getElementType()->kind() == c10::TypeKind::OptionalType;
    c10::List<at::Tensor> plain;
    c10::List<std::optional<at::Tensor>> holey;
    for (const Json& item : argument_.value) {
      const c10::IValue one = argument_.kind == "as_tensors" ? c10::IValue(tensor(item)) : optional_tensor(item);
      if (optionals) holey.push_back(one.isNone() ? std::nullopt : std::optional<at::Tensor>(one.toTensor()));
      else if (one.isNone()) throw bad("tensors only");
      else plain.push_back(one.toTensor());
    }
    return optionals ? c10::IValue(holey) : c10::IValue(plain);
  }

  std::int64_t integer(const Json& value) const {
    if (!value.is_number_integer()) throw bad("an integer");
    return value.get<std::int64_t>();
  }
  double real(const Json& value) const {
    if (value == "Infinity") return std::numeric_limits<double>::infinity();
    if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
    if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
    if (!value.is_number()) throw bad("a number");
    return value.get<double>();
  }
  bool boolean(const Json& value) const {
    if (!value.is_boolean()) throw bad("true or false");
    return value.get<bool>();
  }
  std::string text(const Json& value) const {
    if (!value.is_string()) throw bad("a string");
    return value.get<std::string>();
  }
  c10::IValue symbol(const Json& value) const {
    const auto [kind, content] = read_union(value, where_);
    if (kind == "as_name") return named(text(content));
    return number(kind, content);
  }

  template <class Item, class Read>
  c10::IValue list(Read read) const {
    if (!argument_.value.is_array()) throw bad("a list");
    c10::List<Item> made;
    for (const Json& item : argument_.value) made.push_back(read(item));
    return made;
  }
  // An item of as_ints, as_floats, as_bools, or of a symbolic list.
  c10::IValue item(const Json& value) const {
    if (argument_.kind.rfind("as_sym_", 0) == 0) return symbol(value);
    return value.is_boolean() ? c10::IValue(value.get<bool>()) : value.is_number_integer() ? c10::IValue(value.get<std::int64_t>()) : c10::IValue(real(value));
  }
  c10::IValue numbers(const c10::TypePtr& element) const {
    switch (element->kind()) {
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType: return list<std::int64_t>([&](const Json& value) { return fitted(item(value), element).toInt(); });
      case c10::TypeKind::FloatType: return list<double>([&](const Json& value) { return fitted(item(value), element).toDouble(); });
      case c10::TypeKind::BoolType: return list<bool>([&](const Json& value) { return fitted(item(value), element).toBool(); });
      case c10::TypeKind::NumberType: return list<c10::Scalar>([&](const Json& value) { return fitted(item(value), element).toScalar(); });
      case c10::TypeKind::TensorType:
        if (argument_.value.is_array() && argument_.value.empty()) return c10::List<at::Tensor>();   // an empty list has no kind of its own
        break;
      default: break;
    }
    throw bad("a list of " + element->str());
  }
  // The number as the schema's type wants it.
  c10::IValue fitted(const c10::IValue& value, const c10::TypePtr& formal) const {
    if (value.isTensor() && formal->kind() == c10::TypeKind::TensorType) return value;
    if (!value.isScalar()) throw bad(formal->str());
    const c10::Scalar scalar = value.toScalar();
    switch (formal->kind()) {
      case c10::TypeKind::TensorType: return wrapped_number(scalar);
      case c10::TypeKind::NumberType: return scalar;
      case c10::TypeKind::FloatType:
      case c10::TypeKind::SymFloatType:
        if (!scalar.isComplex()) return scalar.toDouble();
        break;
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType:
        if (scalar.isIntegral(/*includeBool=*/false)) return scalar.toLong();
        break;
      case c10::TypeKind::BoolType:
      case c10::TypeKind::SymBoolType:
        if (scalar.isBoolean()) return scalar.toBool();
        break;
      default: break;
    }
    throw bad(formal->str());
  }

  c10::IValue dtype(const Json& value) const {
    const std::int64_t code = integer(value);
    if (code < 0 || code >= kScalarTypes) throw bad("a dtype");
    const c10::ScalarType type = torch_dtype(exported_dtype(code, where_));
    const c10::ScalarType wide = c10::isFloatingType(type) ? c10::kDouble : c10::isComplexType(type) ? c10::kComplexDouble : type;
    return static_cast<std::int64_t>(on_.widen ? wide : type);
  }
  c10::IValue layout(const Json& value) const {
    if (integer(value) != kStridedLayout) throw bad("the strided layout");
    return static_cast<std::int64_t>(c10::kStrided);
  }
  c10::IValue memory_format(const Json& value) const {
    static constexpr c10::MemoryFormat kFormats[kMemoryFormats] = {c10::MemoryFormat::Contiguous, c10::MemoryFormat::Contiguous, c10::MemoryFormat::ChannelsLast,
                                                                   c10::MemoryFormat::ChannelsLast3d, c10::MemoryFormat::Preserve};
    const std::int64_t code = integer(value);
    if (code < 1 || code >= kMemoryFormats) throw bad("a memory format");
    return static_cast<std::int64_t>(kFormats[code]);
  }

  const ExportedArgument& argument_;
  const Values& values_;
  const RunsOn& on_;
  std::string where_;
};

}  // namespace

c10::IValue to_value(const ExportedArgument& argument, const c10::Argument& formal, const Values& values, const RunsOn& on, const std::string& where) {
  return Converter(argument, values, on, where + "." + argument.name).convert(formal.type());
}

c10::IValue to_number(const ExportedArgument& argument, const Values& values, const std::string& where) {
  const RunsOn cpu{c10::kCPU, false};
  return Converter(argument, values, cpu, where + "." + argument.name).number(argument.kind, argument.value);
}

}  // namespace driftgate
