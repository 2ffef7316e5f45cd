#include "device/operator.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <unordered_map>

#include "device/torch_types.hpp"
#include "error.hpp"

namespace driftgate {

c10::OperatorHandle find_operator(const std::string& qualified) {
  static std::unordered_map<std::string, c10::OperatorHandle> cache;
  if (const auto hit = cache.find(qualified); hit != cache.end()) return hit->second;
  const std::size_t colons = qualified.find("::");
  const std::size_t dot = qualified.find('.', colons);
  std::string overload = dot == std::string::npos ? "" : qualified.substr(dot + 1);
  if (overload == "default") overload.clear();
  const auto handle = c10::Dispatcher::singleton().findSchema({qualified.substr(0, dot), overload});
  if (!handle) throw Error("unknown_op", qualified, "this LibTorch has no such operator", "check the name and the overload");
  cache.emplace(qualified, *handle);
  return *handle;
}

at::Tensor wrapped_number(const c10::Scalar& number) {
  at::Tensor tensor = at::scalar_tensor(number, number.isComplex() ? c10::kComplexDouble : number.isFloatingPoint() ? c10::kDouble : number.isBoolean() ? c10::kBool : c10::kLong);
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

bool holds_optionals(const c10::Argument& argument) {
  const auto list = argument.type()->cast<c10::ListType>();
  return list && list->getElementType()->kind() == c10::TypeKind::OptionalType;
}

namespace {

class Converter {
 public:
  Converter(std::string where, Policy policy) : where_(std::move(where)), policy_(policy) {}

  // `real` is the schema's type before ScalarType, Layout and MemoryFormat were turned into ints.
  c10::IValue convert(const Json& value, const c10::TypePtr& type, const c10::TypePtr& real) const {
    if (const auto optional = type->cast<c10::OptionalType>()) {
      if (value.is_null()) return {};
      const auto real_optional = real->cast<c10::OptionalType>();
      return convert(value, optional->getElementType(), real_optional ? real_optional->getElementType() : real);
    }
    switch (type->kind()) {
      case c10::TypeKind::TensorType: return wrapped_number(scalar(value));
      case c10::TypeKind::IntType:
      case c10::TypeKind::SymIntType: return value.is_string() ? c10::IValue(enumerated(value.get<std::string>(), real)) : c10::IValue(integer(value));
      case c10::TypeKind::FloatType: return as_number(value, where_);
      case c10::TypeKind::BoolType: return boolean(value);
      case c10::TypeKind::NumberType: return scalar(value);
      case c10::TypeKind::StringType: return text(value);
      case c10::TypeKind::ListType: return list(value, type->expectRef<c10::ListType>().getElementType());
      default: throw bad("an argument of type " + type->str() + " cannot be given by a spec");
    }
  }

 private:
  Error bad(const std::string& problem) const { return Error("bad_argument", where_, problem); }

  std::int64_t integer(const Json& value) const {
    if (!value.is_number_integer()) throw bad("needs an integer, has " + value.dump());
    return value.get<std::int64_t>();
  }
  bool boolean(const Json& value) const {
    if (!value.is_boolean()) throw bad("needs true or false, has " + value.dump());
    return value.get<bool>();
  }
  std::string text(const Json& value) const {
    if (!value.is_string()) throw bad("needs a string, has " + value.dump());
    return value.get<std::string>();
  }
  c10::Scalar scalar(const Json& value) const {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<std::int64_t>();
    return as_number(value, where_);
  }
  std::int64_t enumerated(const std::string& word, const c10::TypePtr& real) const {
    if (real->kind() == c10::TypeKind::MemoryFormatType) {
      if (word == "contiguous") return static_cast<std::int64_t>(c10::MemoryFormat::Contiguous);
      if (word == "channels_last") return static_cast<std::int64_t>(c10::MemoryFormat::ChannelsLast);
      if (word == "preserve") return static_cast<std::int64_t>(c10::MemoryFormat::Preserve);
      throw bad("'" + word + "' is not a memory format");
    }
    const auto dtype = word == "policy" ? std::optional(dtype_of(policy_)) : parse_dtype(word);
    if (!dtype) throw bad("'" + word + "' is not a dtype");
    return static_cast<std::int64_t>(torch_dtype(*dtype));
  }
  c10::IValue list(const Json& value, const c10::TypePtr& element) const {
    // A single number stands for a list of one, as in int[2] arguments.
    const Json items = value.is_array() ? value : Json::array({value});
    if (element->kind() == c10::TypeKind::IntType || element->kind() == c10::TypeKind::SymIntType) {
      c10::List<std::int64_t> out;
      for (const Json& item : items) out.push_back(integer(item));
      return out;
    }
    if (element->kind() == c10::TypeKind::FloatType) {
      c10::List<double> out;
      for (const Json& item : items) out.push_back(as_number(item, where_));
      return out;
    }
    if (element->kind() == c10::TypeKind::BoolType) {
      c10::List<bool> out;
      for (const Json& item : items) out.push_back(boolean(item));
      return out;
    }
    if (element->kind() == c10::TypeKind::NumberType) {
      c10::List<c10::Scalar> out;
      for (const Json& item : items) out.push_back(scalar(item));
      return out;
    }
    if (element->kind() == c10::TypeKind::TensorType && value.is_array() && value.empty()) return c10::List<at::Tensor>();
    throw bad("a list of " + element->str() + " cannot be given by a spec");
  }

  std::string where_;
  Policy policy_;
};

// Overloads of every operator, by its name without the overload.
const std::unordered_multimap<std::string, c10::OperatorHandle>& overloads() {
  static const auto table = [] {
    std::unordered_multimap<std::string, c10::OperatorHandle> made;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
      if (const auto handle = c10::Dispatcher::singleton().findSchema(name)) made.emplace(name.name, *handle);
    return made;
  }();
  return table;
}

// Whether `schema` takes the functional form's arguments, in order, and beside them only tensors that it writes.
bool takes_arguments_of(const c10::FunctionSchema& functional, const c10::FunctionSchema& schema) {
  std::size_t next = 0;
  for (const c10::Argument& argument : schema.arguments()) {
    if (argument.is_out()) continue;
    if (next >= functional.arguments().size()) return false;
    const c10::Argument& due = functional.arguments()[next++];
    if (due.name() != argument.name() || *due.type() != *argument.type()) return false;
  }
  return next == functional.arguments().size();
}

c10::OperatorHandle find_form(const std::string& qualified, Form form) {
  const c10::OperatorHandle functional = find_operator(qualified);
  if (form == Form::functional) return functional;
  if (const auto found = overload_of(functional, form)) return *found;
  throw Error("unknown_op", qualified, form == Form::out ? "no out= overload" : "no in-place overload");
}

}  // namespace

std::optional<c10::OperatorHandle> overload_of(const c10::OperatorHandle& functional, Form form) {
  const c10::FunctionSchema& schema = functional.schema();
  const auto [first, last] = overloads().equal_range(form == Form::in_place ? schema.name() + "_" : schema.name());
  for (auto candidate = first; candidate != last; ++candidate) {
    const c10::FunctionSchema& other = candidate->second.schema();
    const bool writes_out = std::any_of(other.arguments().begin(), other.arguments().end(), [](const c10::Argument& a) { return a.is_out(); });
    const bool same_overload = form != Form::in_place || other.overload_name() == schema.overload_name();
    if (writes_out == (form == Form::out) && same_overload && takes_arguments_of(schema, other)) return candidate->second;
  }
  return std::nullopt;
}

BoundOperator::BoundOperator(const Case& c, Form form)
    : where_(c.row->file + ": " + std::string(c.op_name()) + "." + c.arguments->name), handle_(find_form(c.row->ops[c.op], form)) {
  const auto& schema = handle_.schema();
  std::size_t used = 0;
  for (std::size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& formal = schema.arguments()[i];
    if (form == Form::out && formal.is_out()) {
      out_positions_.push_back(i);
      stack_.emplace_back();
      continue;
    }
    const auto given = std::find_if(c.arguments->arguments.begin(), c.arguments->arguments.end(),
                                    [&](const auto& pair) { return pair.first == formal.name(); });
    if (given == c.arguments->arguments.end()) {
      if (formal.name() == "device" && formal.real_type()->str().find("Device") != std::string::npos) device_positions_.push_back(i);
      if (formal.default_value()) stack_.push_back(*formal.default_value());
      else if (formal.type()->kind() == c10::TypeKind::OptionalType) stack_.emplace_back();
      else throw Error("bad_argument", where_ + "." + formal.name(), "the operator needs this argument");
      continue;
    }
    ++used;
    if (const auto* tensor = std::get_if<TensorArgument>(&given->second)) {
      slots_.push_back({formal.name(), i, -1, tensor});
      stack_.emplace_back();
    } else if (const auto* tensors = std::get_if<std::vector<TensorArgument>>(&given->second)) {
      for (std::size_t k = 0; k < tensors->size(); ++k)
        slots_.push_back({formal.name() + "." + std::to_string(k), i, static_cast<int>(k), &(*tensors)[k]});
      stack_.emplace_back();
    } else {
      const Json& value = std::get<Json>(given->second);
      const Converter converter(where_ + "." + formal.name(), c.policy);
      stack_.push_back(converter.convert(value, formal.type(), formal.real_type()));
      const bool is_dtype = value.is_string() && stack_.back().isInt() && formal.real_type()->str().find("ScalarType") != std::string::npos;
      if (is_dtype && c10::isFloatingType(static_cast<c10::ScalarType>(stack_.back().toInt()))) dtype_positions_.push_back(i);
    }
  }
  if (slots_.empty() && device_positions_.empty())
    throw Error("bad_argument", where_, "the operator has no tensor: nothing would run on the device");
  if (used != c.arguments->arguments.size())
    for (const auto& [argument, value] : c.arguments->arguments)
      if (!schema.argumentIndexWithName(argument))
        throw Error("bad_argument", where_ + "." + argument, "the operator has no such argument", "its schema is " + c10::toString(schema));
}

bool BoundOperator::writes(std::size_t slot) const {
  const c10::AliasInfo* alias = handle_.schema().arguments()[slots_[slot].argument].alias_info();
  return alias && alias->isWrite();
}

std::vector<at::Tensor> BoundOperator::call(const std::vector<at::Tensor>& tensors, bool widen, c10::Device device,
                                            const std::vector<at::Tensor>& outs) const {
  torch::jit::Stack stack = stack_;
  for (std::size_t i = 0; i < out_positions_.size(); ++i) stack[out_positions_[i]] = outs.at(i);
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const TensorSlot& slot = slots_[s];
    if (slot.element < 0) {
      stack[slot.argument] = tensors[s];
    } else if (holds_optionals(handle_.schema().arguments()[slot.argument])) {
      if (slot.element == 0) stack[slot.argument] = c10::List<std::optional<at::Tensor>>();
      stack[slot.argument].toOptionalTensorList().push_back(tensors[s]);
    } else {
      if (slot.element == 0) stack[slot.argument] = c10::List<at::Tensor>();
      stack[slot.argument].toTensorList().push_back(tensors[s]);
    }
  }
  if (widen)
    for (const std::size_t position : dtype_positions_) stack[position] = static_cast<std::int64_t>(c10::kDouble);
  for (const std::size_t position : device_positions_) stack[position] = device;
  handle_.callBoxed(stack);

  std::vector<at::Tensor> results;
  for (const c10::IValue& value : stack) {
    if (value.isTensor()) results.push_back(value.toTensor());
    else if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(tensor);
    else if (value.isScalar()) results.push_back(at::scalar_tensor(value.toScalar(), value.toScalar().type()));
  }
  for (std::size_t s = 0; s < slots_.size(); ++s) {
    const auto returned = [&](const at::Tensor& result) { return result.is_same(tensors[s]); };
    if (writes(s) && std::none_of(results.begin(), results.end(), returned)) results.push_back(tensors[s]);
  }
  return results;
}

std::int64_t BoundOperator::integer_argument(const std::string& name) const {
  const auto index = handle_.schema().argumentIndexWithName(name);
  if (!index || !stack_[static_cast<std::size_t>(*index)].isInt())
    throw Error("bad_argument", where_ + "." + name, "the spec's \"indices\": \"gather\" needs this integer argument");
  return stack_[static_cast<std::size_t>(*index)].toInt();
}

}  // namespace driftgate
