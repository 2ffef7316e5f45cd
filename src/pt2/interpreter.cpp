#include "pt2/interpreter.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <cstring>

#include "device/operator.hpp"
#include "device/torch_types.hpp"
#include "error.hpp"
#include "pt2/arguments.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kOps = "torch.ops.";

at::Tensor load_tensor(const ExportedTensor& tensor) {
  const auto elements = static_cast<std::int64_t>(tensor.storage.size() / size_of(tensor.dtype));
  const at::Tensor storage = at::empty({elements}, torch_dtype(tensor.dtype));
  std::memcpy(storage.mutable_data_ptr(), tensor.storage.data(), static_cast<std::size_t>(elements) * size_of(tensor.dtype));
  return storage.as_strided(tensor.sizes, tensor.strides, tensor.offset);
}

// The leaves of (args, kwargs), in the order in which Python flattens them.
void flatten(const c10::IValue& value, std::vector<c10::IValue>& leaves) {
  if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) flatten(item, leaves);
  } else if (value.isList()) {
    for (const c10::IValue& item : value.toListRef()) flatten(item, leaves);
  } else if (value.isGenericDict()) {
    for (const auto& item : value.toGenericDict()) flatten(item.value(), leaves);
  } else {
    leaves.push_back(value);
  }
}

std::vector<c10::IValue> sample_inputs(const ExportedProgram& program) {
  std::vector<c10::IValue> leaves;
  try {
    flatten(torch::jit::pickle_load(std::vector<char>(program.sample_inputs.begin(), program.sample_inputs.end())), leaves);
  } catch (const std::exception& error) {
    throw Error("bad_inputs", program.where + "/data/sample_inputs", std::string(error.what()).substr(0, 200), "export with sample inputs of tensors and numbers");
  }
  return leaves;
}

// "torch.ops.aten.linear.default" as "aten::linear.default"
std::string qualified(const std::string& target) {
  std::string name = target.substr(kOps.size());
  const std::size_t dot = name.find('.');
  return dot == std::string::npos ? name : name.replace(dot, 1, "::");
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b, const std::string& where) {
  if (b == 0) throw Error("bad_program", where, "divides by zero");
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

c10::IValue python_integers(const std::string& target, std::int64_t a, std::int64_t b, const std::string& where) {
  const auto wrapping = [](std::uint64_t value) { return static_cast<std::int64_t>(value); };
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  if (target == "_operator.add") return wrapping(ua + ub);
  if (target == "_operator.sub") return wrapping(ua - ub);
  if (target == "_operator.mul") return wrapping(ua * ub);
  if (target == "_operator.floordiv") return floor_divide(a, b, where);
  if (target == "_operator.mod") return wrapping(ua - ub * static_cast<std::uint64_t>(floor_divide(a, b, where)));
  if (target == "_operator.eq") return a == b;
  if (target == "_operator.ne") return a != b;
  if (target == "_operator.lt") return a < b;
  if (target == "_operator.le") return a <= b;
  if (target == "_operator.gt") return a > b;
  if (target == "_operator.ge") return a >= b;
  throw Error("unsupported_op", where, "'" + target + "' is neither an operator of the dispatcher nor one of Python's on two integers");
}

}  // namespace

Values load_values(const ExportedProgram& program) {
  Values values;
  const std::vector<c10::IValue> leaves = sample_inputs(program);
  std::size_t next = 0;
  for (const ExportedInput& input : program.inputs) {
    if (input.kind == ExportedInput::Kind::weight) {
      values[input.name] = load_tensor(input.tensor);
      continue;
    }
    if (next >= leaves.size()) throw Error("bad_inputs", program.where + "/data/sample_inputs", "fewer inputs than the graph takes");
    const c10::IValue& leaf = leaves[next++];
    if (input.name.empty()) continue;                   // a constant: it stands in the graph
    if (!leaf.isTensor() && !leaf.isInt()) throw Error("bad_inputs", program.where + "/data/sample_inputs", "'" + input.name + "' is neither a tensor nor an integer");
    values[input.name] = leaf;
  }
  if (next != leaves.size()) throw Error("bad_inputs", program.where + "/data/sample_inputs", "more inputs than the graph takes");
  return values;
}

c10::IValue placed(const c10::IValue& value, const RunsOn& on) {
  if (!value.isTensor()) return value;
  const at::Tensor& tensor = value.toTensor();
  c10::ScalarType dtype = tensor.scalar_type();
  if (on.widen && tensor.is_floating_point()) dtype = c10::kDouble;
  if (on.widen && tensor.is_complex()) dtype = c10::kComplexDouble;
  return tensor.detach().to(c10::TensorOptions(on.device).dtype(dtype), /*non_blocking=*/false, /*copy=*/true);
}

Values placed(const Values& values, const RunsOn& on) {
  Values copies;
  for (const auto& [name, value] : values) copies[name] = placed(value, on);
  return copies;
}

NodeCall::NodeCall(const ExportedNode& node, const std::string& where) : node_(&node), where_(where + ": " + node.name + " (" + node.target + ")") {
  if (node.target.rfind("torch.ops.higher_order.", 0) == 0)
    throw Error("unsupported_op", where_, "control flow and autocast regions are not run node by node", "export without them");
  if (node.target.rfind(kOps, 0) != 0) return;
  op_ = find_operator(qualified(node.target));
  for (const ExportedArgument& argument : node.arguments)
    if (!op_->schema().argumentIndexWithName(argument.name))
      throw Error("bad_argument", where_ + "." + argument.name, "the operator has no such argument", "its schema is " + c10::toString(op_->schema()));
}

std::vector<std::string> NodeCall::tensors() const {
  std::vector<std::string> names;
  const auto add = [&](const Json& value) {
    if (value.is_object() && value.contains("name") && value["name"].is_string()) names.push_back(value["name"].get<std::string>());
    if (value.is_object() && value.contains("as_tensor")) names.push_back(value["as_tensor"].value("name", ""));
  };
  for (const ExportedArgument& argument : node_->arguments) {
    if (argument.kind.find("tensor") == std::string::npos) continue;
    if (argument.value.is_array()) std::for_each(argument.value.begin(), argument.value.end(), add);
    else add(argument.value);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool NodeCall::only_asserts() const { return op_ && op_->schema().returns().empty() && !op_->schema().is_mutable(); }

std::optional<std::int64_t> NodeCall::integer(const std::string& name, const Values& values) const {
  for (const ExportedArgument& argument : node_->arguments)
    if (argument.name == name && argument.kind.find("int") != std::string::npos) {
      const c10::IValue value = to_number(argument, values, where_);
      return value.isInt() ? std::optional(value.toInt()) : std::nullopt;
    }
  const auto position = op_ ? op_->schema().argumentIndexWithName(name) : std::nullopt;
  if (!position) return std::nullopt;
  const std::optional<c10::IValue>& fallback = op_->schema().arguments()[static_cast<std::size_t>(*position)].default_value();
  return fallback && fallback->isInt() ? std::optional(fallback->toInt()) : std::nullopt;
}

Values NodeCall::run(const Values& values, const RunsOn& on) const {
  if (op_) return bind(call(values, on));
  if (node_->arguments.size() != 2) throw Error("unsupported_op", where_, "'" + node_->target + "' with " + std::to_string(node_->arguments.size()) + " arguments");
  const c10::IValue a = to_number(node_->arguments[0], values, where_), b = to_number(node_->arguments[1], values, where_);
  if (!a.isInt() || !b.isInt()) throw Error("unsupported_op", where_, "'" + node_->target + "' of other values than integers");
  return bind({python_integers(node_->target, a.toInt(), b.toInt(), where_)});
}

std::vector<c10::IValue> NodeCall::call(const Values& values, const RunsOn& on) const {
  const c10::FunctionSchema& schema = op_->schema();
  torch::jit::Stack stack;
  for (const c10::Argument& formal : schema.arguments()) {
    const auto given = std::find_if(node_->arguments.begin(), node_->arguments.end(), [&](const ExportedArgument& a) { return a.name == formal.name(); });
    if (given != node_->arguments.end()) stack.push_back(to_value(*given, formal, values, on, where_));
    else if (formal.default_value()) stack.push_back(*formal.default_value());
    else if (formal.type()->kind() == c10::TypeKind::OptionalType) stack.emplace_back();
    else throw Error("bad_argument", where_ + "." + formal.name(), "the operator needs this argument");
    const bool is_device = formal.name() == "device" && formal.real_type()->str().find("Device") != std::string::npos;
    if (is_device && stack.back().isNone() && schema.returns().size() == 1) stack.back() = on.device;      // a factory
  }
  op_->callBoxed(stack);
  return {stack.begin(), stack.end()};
}

Values NodeCall::bind(const std::vector<c10::IValue>& results) const {
  Values bound;
  const auto broken = [this] { return Error("bad_program", where_, "names other results than the operator returns"); };
  if (node_->results.size() > results.size()) throw broken();
  for (std::size_t i = 0; i < node_->results.size(); ++i) {
    const ExportedResult& result = node_->results[i];
    if (!result.list) {
      if (!result.names.empty()) bound[result.names[0]] = results[i];
      continue;
    }
    if (!results[i].isTensorList()) throw broken();
    const std::vector<at::Tensor> tensors = results[i].toTensorVector();
    if (tensors.size() != result.names.size()) throw broken();
    for (std::size_t k = 0; k < tensors.size(); ++k) bound[result.names[k]] = tensors[k];
  }
  return bound;
}

}  // namespace driftgate
