#include "sim/effect.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "device/torch_types.hpp"
#include "sim/edit.hpp"
#include "sim/generator.hpp"
#include "sim/match.hpp"
#include "sim/memory.hpp"
#include "sim/operand.hpp"
#include "sim/output_effect.hpp"
#include "sim/reduction.hpp"

namespace driftgate {
namespace {

// ---- effects that change what the call reads ----

void with_misread_operand(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const auto position = operand_position(planted.fault.when, call);
  if (!position) return inner(stack);
  const Misreading how = planted.fault.effect.kind == EffectKind::ignore_strides ? Misreading::strides : Misreading::offset;
  PrivateOperands operands(call, stack);
  operands.replace(*position, [&](const at::Tensor& t) { return misread(t, how); });
  inner(stack);
  operands.write_back(stack, [&](at::Tensor& memory, const at::Tensor& value) { miswrite(memory, value, how); });
}

void with_changed_inputs(const Call& call, Stack& stack, const Compute& inner, const std::function<at::Tensor(const at::Tensor&)>& change) {
  PrivateOperands operands(call, stack);
  for (std::size_t i = 0; i < formals(call).size(); ++i)
    if (!output_only(call.op, i)) operands.replace(i, [&](const at::Tensor& t) { return change(t).clone(); });
  inner(stack);
  operands.write_back(stack);
}

void with_default_argument(const std::string& name, const Call& call, Stack& stack, const Compute& inner) {
  const auto position = static_cast<std::size_t>(*call.op.schema().argumentIndexWithName(name));
  PrivateOperands operands(call, stack);
  if (stack[position].isTensor() && formals(call)[position].type()->kind() == c10::TypeKind::TensorType)
    operands.replace(position, [](const at::Tensor& t) { return at::zeros_like(t); });
  else
    stack[position] = default_of(formals(call)[position]);
  inner(stack);
  operands.write_back(stack);
}

void without_last(const Call& call, Stack& stack, const Compute& inner) {
  const auto term = without_last_term(call, stack);
  PrivateOperands operands(call, stack);
  if (term) operands.replace(term->position, [&](const at::Tensor&) { return term->operand; });
  inner(stack);
  operands.write_back(stack);
}

// The dtype of the output decides as what the operand's bits are read.
void with_wrong_cast(const Call& call, Stack& stack, const Compute& inner) {
  Stack trial = private_copies(call, stack);
  Stack trial_arguments = trial;
  inner(trial);
  const Tensors outputs = all_outputs(call, trial_arguments, trial);
  if (outputs.empty()) return inner(stack);
  const c10::ScalarType dtype = outputs.front().scalar_type();
  PrivateOperands operands(call, stack);
  for (std::size_t i = 0; i < formals(call).size(); ++i)
    if (!written(formals(call)[i]))
      operands.replace(i, [&](const at::Tensor& t) { return t.scalar_type() == dtype ? t.clone() : reinterpreted(t, dtype); });
  inner(stack);
  operands.write_back(stack);
}

// ---- effects that take its place ----

[[noreturn]] void hang() {
  while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
}

// What a kernel without its check would return: something of the right kind.
void instead_of_error(bool index, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  try {
    inner(stack);
    return;
  } catch (const c10::Error&) {
    stack = arguments;
  }
  if (index) {
    for (std::size_t i = 0; i < stack.size(); ++i)
      if (!written(formals(call)[i]))
        stack[i] = map_tensors(stack[i], [](const at::Tensor& t) { return at::isIntegralType(t.scalar_type(), false) ? at::zeros_like(t) : t; });
    try {
      inner(stack);
      return;
    } catch (const c10::Error&) {
      stack = arguments;
    }
  }
  at::Tensor any;
  for (const c10::IValue& argument : arguments)
    if (!any.defined() && !tensors_of(argument).empty()) any = tensors_of(argument)[0];
  TORCH_CHECK(any.defined(), "no tensor to return");
  stack.clear();
  for (const c10::Argument& result : call.op.schema().returns()) {
    const bool aliases = result.alias_info() && result.alias_info()->isWrite();
    stack.emplace_back(aliases ? any : any.clone());
  }
}

void fall_back(const Call& call, Stack& stack, const Compute& inner) {
  TORCH_WARN("The operator '", call.op.schema().name(), "' is not currently supported on the MPS backend and will fall back to run on the CPU. ",
             "This may have performance implications.");
  inner(stack);
}

thread_local RandomMode random_mode = RandomMode::sound;

void with_random(RandomMode mode, Stack& stack, const Compute& inner) {
  struct Reset {
    ~Reset() { random_mode = RandomMode::sound; }
  } reset;
  random_mode = mode;
  inner(stack);
}

}  // namespace

RandomMode current_random_mode() { return random_mode; }

bool applicable(const Planted& planted, const Call& call) {
  const Effect& effect = planted.fault.effect;
  const auto operand = operand_position(planted.fault.when, call);
  const Tensors read = operand ? tensors_of(call.arguments[*operand]) : Tensors();
  switch (effect.kind) {
    case EffectKind::ignore_strides:
      return std::any_of(read.begin(), read.end(), [](const at::Tensor& t) { return !t.is_contiguous(); });
    case EffectKind::ignore_offset:
      return std::any_of(read.begin(), read.end(), [](const at::Tensor& t) { return t.storage_offset() != 0; });
    case EffectKind::ignore_argument:
      return differs_from_default(effect.argument, call);
    case EffectKind::wrong_cast:
      return mixes_any_dtypes(call);
    case EffectKind::write_outside:
      return writes_into_a_part(call);
    default:
      return true;
  }
}

void apply(Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Effect& effect = planted.fault.effect;
  switch (effect.kind) {
    case EffectKind::ignore_strides:
    case EffectKind::ignore_offset:
      return with_misread_operand(planted, call, stack, inner);
    case EffectKind::round_inputs:
      return with_changed_inputs(call, stack, inner, [&](const at::Tensor& t) { return rounded(t, effect.amount); });
    case EffectKind::flush_subnormals:
      return edit_outputs(planted, call, stack, [&](Stack& inputs) { with_changed_inputs(call, inputs, inner, &flushed); });
    case EffectKind::ignore_argument:
      return with_default_argument(effect.argument, call, stack, inner);
    case EffectKind::drop_last_term:
      return without_last(call, stack, inner);
    case EffectKind::wrong_cast:
      return with_wrong_cast(call, stack, inner);
    case EffectKind::truncate_output:
      return truncate_outputs(planted, call, stack, inner);
    case EffectKind::accumulate_in:
      return accumulate(planted, call, stack, inner);
    case EffectKind::write_lost:
      return lose_writes(planted, call, stack, inner);
    case EffectKind::write_outside:
      return write_outside(planted, call, stack, inner);
    case EffectKind::stale_output:
      return keep_stale(planted, call, stack, inner);
    case EffectKind::reuse_first_result:
      return reuse_first(planted, call, stack, inner);
    case EffectKind::read_uninitialized:
      return read_uninitialized(planted, call, stack, inner);
    case EffectKind::no_reseed:
      return with_random(RandomMode::no_reseed, stack, inner);
    case EffectKind::same_samples:
      return with_random(RandomMode::same_samples, stack, inner);
    case EffectKind::no_error_on_bad_index:
      return instead_of_error(true, call, stack, inner);
    case EffectKind::no_error_on_bad_argument:
      return instead_of_error(false, call, stack, inner);
    case EffectKind::wrong_shape:
      return wrong_shape(planted, call, stack, inner);
    case EffectKind::raise:
      TORCH_CHECK(false, "planted fault '", planted.fault.name, "'");
      return;
    case EffectKind::abort:
      std::abort();
    case EffectKind::hang:
      hang();
    case EffectKind::cpu_fallback:
      return fall_back(call, stack, inner);
    case EffectKind::leak:
      planted.leaked.push_back(SimulatedMemory::instance().allocate(static_cast<std::size_t>(effect.amount)));
      return inner(stack);
    default:
      return edit_outputs(planted, call, stack, inner);
  }
}

}  // namespace driftgate
