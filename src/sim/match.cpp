#include "sim/match.hpp"

#include <algorithm>

#include "device/torch_types.hpp"

namespace driftgate {
namespace {

bool expanded(const at::Tensor& t) {
  for (std::int64_t d = 0; d < t.dim(); ++d)
    if (t.stride(d) == 0 && t.size(d) > 1) return true;
  return false;
}

bool channels_last(const at::Tensor& t) {
  return !t.is_contiguous() && ((t.dim() == 4 && t.is_contiguous(c10::MemoryFormat::ChannelsLast)) ||
                                (t.dim() == 5 && t.is_contiguous(c10::MemoryFormat::ChannelsLast3d)));
}

bool has_layout(const at::Tensor& t, OperandLayout layout) {
  switch (layout) {
    case OperandLayout::noncontiguous: return !t.is_contiguous();
    case OperandLayout::contiguous: return t.is_contiguous();
    case OperandLayout::stepped: return !t.is_non_overlapping_and_dense() && !expanded(t);
    case OperandLayout::offset: return t.storage_offset() != 0;
    case OperandLayout::expanded: return expanded(t);
    case OperandLayout::channels_last: return channels_last(t);
    case OperandLayout::any: return true;
  }
  return false;
}

std::optional<std::int64_t> size_at(const at::Tensor& t, std::int64_t dim) {
  if (dim < 0) dim += t.dim();
  if (dim < 0 || dim >= t.dim()) return std::nullopt;
  return t.size(dim);
}

bool holds(const SizeRule& rule, const at::Tensor& t) {
  const auto size = size_at(t, rule.dim);
  if (!size) return false;
  switch (rule.kind) {
    case SizeRule::Kind::at_least: return *size >= rule.size;
    case SizeRule::Kind::at_most: return *size <= rule.size;
    case SizeRule::Kind::equals: return *size == rule.size;
    case SizeRule::Kind::not_divisible: return *size % rule.size != 0;
  }
  return false;
}

double smallest_normal(c10::ScalarType type) { return type == c10::kHalf ? 0x1p-14 : type == c10::kDouble ? 0x1p-1022 : 0x1p-126; }

bool holds(ValueRule rule, double above, const at::Tensor& t) {
  if (t.numel() == 0) return false;
  const at::Tensor x = t.is_complex() ? at::view_as_real(t.resolve_conj()).contiguous() : t.contiguous();
  const bool floating = x.is_floating_point();
  switch (rule) {
    case ValueRule::any_nan: return floating && at::isnan(x).any().item<bool>();
    case ValueRule::any_inf: return floating && at::isinf(x).any().item<bool>();
    case ValueRule::any_subnormal:
      return floating && at::logical_and(x.ne(0), x.to(c10::kDouble).abs().lt(smallest_normal(x.scalar_type()))).any().item<bool>();
    case ValueRule::any_negative_zero: return floating && at::logical_and(x.eq(0), at::signbit(x)).any().item<bool>();
    case ValueRule::any_negative: return x.scalar_type() != c10::kBool && x.lt(0).any().item<bool>();
    case ValueRule::all_equal: return x.eq(x.flatten()[0]).all().item<bool>();
    case ValueRule::any_above: return x.to(c10::kDouble).gt(above).any().item<bool>();
  }
  return false;
}

bool equals(const Json& wanted, const c10::IValue& value, const c10::Argument& argument) {
  if (wanted == "nondefault") {
    if (!argument.default_value()) return !value.isNone();
    const c10::IValue& fallback = *argument.default_value();
    if (value.isNone() || fallback.isNone()) return value.isNone() != fallback.isNone();
    if (value.isScalar() && fallback.isScalar()) return value.toScalar().toDouble() != fallback.toScalar().toDouble();
    return value != fallback;
  }
  if (wanted.is_null()) return value.isNone();
  if (wanted.is_array()) {
    if (!value.isList()) return false;
    const auto list = value.toListRef();
    return std::equal(list.begin(), list.end(), wanted.begin(), wanted.end(),
                      [&](const c10::IValue& item, const Json& each) { return equals(each, item, argument); });
  }
  if (wanted.is_boolean()) return value.isBool() && value.toBool() == wanted.get<bool>();
  if (wanted.is_number()) return value.isScalar() && !value.isComplexDouble() && value.toScalar().toDouble() == wanted.get<double>();
  const std::string text = wanted.get<std::string>();
  if (value.isString()) return value.toStringRef() == text;
  if (value.isDouble()) return number(value.toDouble()) == Json(text);
  return value.isInt() && argument.real_type()->str().find("ScalarType") != std::string::npos && parse_dtype(text) &&
         static_cast<c10::ScalarType>(value.toInt()) == torch_dtype(*parse_dtype(text));
}

bool attribute_holds(const When& when, const Call& call) {
  const auto index = call.op.schema().argumentIndexWithName(when.attribute);
  if (!index) return false;
  const auto position = static_cast<std::size_t>(*index);
  return equals(when.attribute_equals, call.arguments[position], call.op.schema().arguments()[position]);
}

std::vector<at::Tensor> inputs_of(const Call& call) {
  std::vector<at::Tensor> inputs;
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (!output_only(call.op, i))
      for (const at::Tensor& tensor : tensors_of(call.arguments[i])) inputs.push_back(tensor);
  return inputs;
}

bool mixes_dtypes(const Call& call) {
  std::optional<c10::ScalarType> first;
  for (const at::Tensor& tensor : inputs_of(call)) {
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) continue;
    if (first && *first != tensor.scalar_type()) return true;
    first = tensor.scalar_type();
  }
  return false;
}

bool broadcasts(const Call& call) {
  const std::vector<at::Tensor> inputs = inputs_of(call);
  return std::any_of(inputs.begin(), inputs.end(), [&](const at::Tensor& t) { return t.sizes() != inputs.front().sizes(); });
}

// In place: a written argument that is also read, or an `out` in the memory of an input.
bool writes_in_place(const Call& call) {
  const std::vector<at::Tensor> inputs = inputs_of(call);
  for (std::size_t i = 0; i < call.arguments.size(); ++i) {
    if (!written(call.op.schema().arguments()[i])) continue;
    if (!output_only(call.op, i)) return true;
    for (const at::Tensor& out : tensors_of(call.arguments[i]))
      for (const at::Tensor& input : inputs)
        if (input.numel() > 0 && input.data_ptr() == out.data_ptr()) return true;
  }
  return false;
}

bool relation_holds(Relation relation, const at::Tensor& t, const Call& call) {
  if (relation == Relation::broadcast) return broadcasts(call);
  if (t.dim() < 2) return false;
  return relation == Relation::square ? t.size(-2) == t.size(-1) : t.size(-2) < t.size(-1);
}

bool operand_holds(const When& when, const at::Tensor& t, const Call& call) {
  if (!when.dtypes.empty() && std::none_of(when.dtypes.begin(), when.dtypes.end(), [&](DType d) { return torch_dtype(d) == t.scalar_type(); }))
    return false;
  if (when.layout && !has_layout(t, *when.layout)) return false;
  if (when.ndim_at_least && t.dim() < *when.ndim_at_least) return false;
  if (when.ndim_equals && t.dim() != *when.ndim_equals) return false;
  if (when.min_numel && t.numel() < *when.min_numel) return false;
  if (!std::all_of(when.sizes.begin(), when.sizes.end(), [&](const SizeRule& rule) { return holds(rule, t); })) return false;
  if (when.relation && !relation_holds(*when.relation, t, call)) return false;
  return !when.value || holds(*when.value, when.above, t);
}

bool asks_about_operand(const When& when) {
  return !when.dtypes.empty() || when.layout || when.ndim_at_least || when.ndim_equals || when.min_numel || !when.sizes.empty() || when.relation ||
         when.value;
}

bool on_cpu(const When& when, const Call& call, std::optional<std::size_t> operand) {
  const std::vector<at::Tensor> given = operand ? tensors_of(call.original[*operand]) : std::vector<at::Tensor>();
  return !when.on_cpu || std::any_of(given.begin(), given.end(), [](const at::Tensor& t) { return t.is_cpu(); });
}

}  // namespace

bool any_name_matches(const std::string& globs, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) { return any_glob_matches(globs, name); });
}

std::optional<std::size_t> operand_position(const When& when, const Call& call) {
  if (when.arg) return static_cast<std::size_t>(*when.arg) < call.arguments.size() ? std::optional<std::size_t>(*when.arg) : std::nullopt;
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    if (!tensors_of(call.arguments[i]).empty()) return i;
  return std::nullopt;
}

bool matches(const Fault& fault, const Call& call) {
  if (!any_name_matches(fault.op, call.names)) return false;
  const When& when = fault.when;
  if (!when.inside.empty() && !any_name_matches(when.inside, call.enclosing)) return false;
  if (when.grad_mode && *when.grad_mode != c10::GradMode::is_enabled()) return false;
  if (!when.attribute.empty() && !attribute_holds(when, call)) return false;
  if (when.mixed_dtype && *when.mixed_dtype != mixes_dtypes(call)) return false;
  if (when.inplace && *when.inplace != writes_in_place(call)) return false;
  const auto operand = operand_position(when, call);
  const std::vector<at::Tensor> given = operand ? tensors_of(call.arguments[*operand]) : std::vector<at::Tensor>();
  if (when.absent && *when.absent != given.empty()) return false;
  if (!on_cpu(when, call, operand)) return false;
  return !asks_about_operand(when) || std::any_of(given.begin(), given.end(), [&](const at::Tensor& t) { return operand_holds(when, t, call); });
}

}  // namespace driftgate
