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
#include "sim/reduction.hpp"

namespace driftgate {
namespace {

using Tensors = std::vector<at::Tensor>;

const std::vector<c10::Argument>& formals(const Call& call) { return call.op.schema().arguments(); }

// The tensors that the call hands on: its results, or what it wrote where it returns nothing.
Tensors all_outputs(const Call& call, const Stack& arguments, const Stack& results) {
  Tensors outputs;
  for (const c10::IValue& value : results)
    for (const at::Tensor& tensor : tensors_of(value)) outputs.push_back(tensor);
  if (!results.empty()) return outputs;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (written(formals(call)[i]))
      for (const at::Tensor& tensor : tensors_of(arguments[i])) outputs.push_back(tensor);
  return outputs;
}

Tensors chosen_outputs(const Effect& effect, const Call& call, const Stack& arguments, const Stack& results) {
  const Tensors all = all_outputs(call, arguments, results);
  if (!effect.output) return all;
  const auto index = static_cast<std::size_t>(*effect.output);
  return index < all.size() ? Tensors{all[index]} : Tensors{};
}

bool is_written(const at::Tensor& tensor, const Call& call, const Stack& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (written(formals(call)[i]))
      for (const at::Tensor& argument : tensors_of(arguments[i]))
        if (argument.is_same(tensor)) return true;
  return false;
}

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
void with_wrong_cast(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  Stack trial = private_copies(call, stack);
  Stack trial_arguments = trial;
  inner(trial);
  const Tensors outputs = all_outputs(call, trial_arguments, trial);
  if (outputs.empty()) return inner(stack);
  const c10::ScalarType dtype = outputs.front().scalar_type();
  PrivateOperands operands(call, stack);
  for (std::size_t i = 0; i < formals(call).size(); ++i) {
    const bool meant = !planted.fault.when.arg || static_cast<std::size_t>(*planted.fault.when.arg) == i;
    if (meant && !written(formals(call)[i]))
      operands.replace(i, [&](const at::Tensor& t) { return t.scalar_type() == dtype ? t.clone() : reinterpreted(t, dtype); });
  }
  inner(stack);
  operands.write_back(stack);
}

// ---- effects that change what it leaves ----

void edit_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  for (at::Tensor& output : chosen_outputs(planted.fault.effect, call, arguments, stack))
    if (output.numel() > 0) output.copy_(edited(planted.fault.effect, output, planted.activations));
}

void replace_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner, const std::function<Tensors()>& with) {
  const Stack arguments = stack;
  const Tensors replacements = with();
  inner(stack);
  Tensors outputs = chosen_outputs(planted.fault.effect, call, arguments, stack);
  for (std::size_t i = 0; i < std::min(outputs.size(), replacements.size()); ++i)
    if (replacements[i].defined() && outputs[i].sizes() == replacements[i].sizes()) outputs[i].copy_(replacements[i]);
}

// Computed in the next wider dtype, then cut off.
void truncate_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  replace_outputs(planted, call, stack, inner, [&] {
    Stack wide = private_copies(call, stack);
    for (c10::IValue& argument : wide)
      argument = map_tensors(argument, [](const at::Tensor& t) {
        return !t.is_floating_point() ? t : t.to(t.scalar_type() == c10::kFloat ? c10::kDouble : c10::kFloat);
      });
    const Stack arguments = wide;
    Tensors cut;
    try {
      inner(wide);
      Tensors outputs = chosen_outputs(planted.fault.effect, call, arguments, wide);
      for (const at::Tensor& output : outputs) {
        const c10::ScalarType narrow = output.scalar_type() == c10::kDouble ? c10::kFloat : tensors_of(call.arguments[0])[0].scalar_type();
        cut.push_back(output.is_floating_point() ? truncated_to(output, narrow) : output);
      }
    } catch (const c10::Error&) {                       // the operator takes no wider inputs: nothing is cut
    }
    return cut;
  });
}

void accumulate(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  replace_outputs(planted, call, stack, inner, [&] {
    return Tensors{accumulated_in(torch_dtype(planted.fault.effect.dtype), call, private_copies(call, stack), inner)};
  });
}

void lose_writes(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  std::vector<std::pair<at::Tensor, at::Tensor>> before;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (written(formals(call)[i]))
      for (const at::Tensor& t : tensors_of(arguments[i])) before.emplace_back(t, t.clone());
  inner(stack);
  for (at::Tensor& output : chosen_outputs(planted.fault.effect, call, arguments, stack)) {
    const auto found = std::find_if(before.begin(), before.end(), [&](const auto& pair) { return pair.first.is_same(output); });
    const bool kept = found != before.end() && found->second.sizes() == output.sizes();
    output.copy_(kept ? found->second : leftover(output.sizes(), output.scalar_type()));
  }
}

void write_outside(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  for (const at::Tensor& output : chosen_outputs(planted.fault.effect, call, arguments, stack))
    if (is_written(output, call, arguments)) clobber_beside(output);
}

void keep_stale(Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  Tensors outputs = chosen_outputs(planted.fault.effect, call, arguments, stack);
  Tensors now;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    now.push_back(outputs[i].clone());
    if (i >= planted.previous.size()) continue;
    const at::Tensor& before = planted.previous[i];
    if (before.sizes() == outputs[i].sizes() && before.scalar_type() == outputs[i].scalar_type()) outputs[i].copy_(before);
  }
  planted.previous = std::move(now);
}

void reuse_first(Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  if (!planted.first) {
    planted.first.emplace();
    for (const at::Tensor& output : all_outputs(call, arguments, stack)) planted.first->emplace_back(output.clone());
    return;
  }
  std::size_t next = 0;
  for (c10::IValue& value : stack)
    value = map_tensors(value, [&](const at::Tensor& output) {
      if (next >= planted.first->size()) return output;
      const at::Tensor& first = (*planted.first)[next++].toTensor();
      if (!is_written(output, call, arguments)) return first.clone();
      if (first.sizes() == output.sizes()) at::Tensor(output).copy_(first);
      return output;
    });
}

// Reads past its operands, and adds what it finds there to the tail of the output.
void read_uninitialized(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  for (at::Tensor& output : chosen_outputs(planted.fault.effect, call, arguments, stack)) {
    if (output.numel() == 0 || output.scalar_type() == c10::kBool) continue;
    at::Tensor whole = output.contiguous().view(-1).clone();
    const at::Tensor found = leftover({whole.numel()}, whole.scalar_type());
    const std::int64_t tail = whole.numel() - std::max<std::int64_t>(1, whole.numel() / 4);
    whole.slice(0, tail).add_(found.slice(0, tail));
    output.copy_(whole.view(output.sizes()));
  }
}

// One row less; one dim more where there are none.
at::Tensor of_wrong_shape(const at::Tensor& t) { return t.dim() == 0 ? t.unsqueeze(0) : t.size(0) > 1 ? t.slice(0, 0, -1) : t.squeeze(0); }

void wrong_shape(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  const Tensors chosen = chosen_outputs(planted.fault.effect, call, arguments, stack);
  for (c10::IValue& value : stack)
    value = map_tensors(value, [&](const at::Tensor& output) {
      const bool meant = std::any_of(chosen.begin(), chosen.end(), [&](const at::Tensor& t) { return t.is_same(output); });
      if (!meant) return output;
      const at::Tensor wrong = of_wrong_shape(output);
      if (!is_written(output, call, arguments)) return wrong.clone();
      output.unsafeGetTensorImpl()->set_sizes_and_strides(wrong.sizes(), wrong.strides());
      return output;
    });
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
    case EffectKind::ignore_strides: return std::any_of(read.begin(), read.end(), [](const at::Tensor& t) { return !t.is_contiguous(); });
    case EffectKind::ignore_offset: return std::any_of(read.begin(), read.end(), [](const at::Tensor& t) { return t.storage_offset() != 0; });
    case EffectKind::ignore_argument: return differs_from_default(effect.argument, call);
    case EffectKind::wrong_cast: return mixes_any_dtypes(call);
    case EffectKind::write_outside: return writes_into_a_part(call);
    default: return true;
  }
}

void apply(Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Effect& effect = planted.fault.effect;
  switch (effect.kind) {
    case EffectKind::ignore_strides:
    case EffectKind::ignore_offset: return with_misread_operand(planted, call, stack, inner);
    case EffectKind::round_inputs: return with_changed_inputs(call, stack, inner, [&](const at::Tensor& t) { return rounded(t, effect.amount); });
    case EffectKind::flush_subnormals:
      return edit_outputs(planted, call, stack, [&](Stack& inputs) { with_changed_inputs(call, inputs, inner, &flushed); });
    case EffectKind::ignore_argument: return with_default_argument(effect.argument, call, stack, inner);
    case EffectKind::drop_last_term: return without_last(call, stack, inner);
    case EffectKind::wrong_cast: return with_wrong_cast(planted, call, stack, inner);
    case EffectKind::truncate_output: return truncate_outputs(planted, call, stack, inner);
    case EffectKind::accumulate_in: return accumulate(planted, call, stack, inner);
    case EffectKind::write_lost: return lose_writes(planted, call, stack, inner);
    case EffectKind::write_outside: return write_outside(planted, call, stack, inner);
    case EffectKind::stale_output: return keep_stale(planted, call, stack, inner);
    case EffectKind::reuse_first_result: return reuse_first(planted, call, stack, inner);
    case EffectKind::read_uninitialized: return read_uninitialized(planted, call, stack, inner);
    case EffectKind::no_reseed: return with_random(RandomMode::no_reseed, stack, inner);
    case EffectKind::same_samples: return with_random(RandomMode::same_samples, stack, inner);
    case EffectKind::no_error_on_bad_index: return instead_of_error(true, call, stack, inner);
    case EffectKind::no_error_on_bad_argument: return instead_of_error(false, call, stack, inner);
    case EffectKind::wrong_shape: return wrong_shape(planted, call, stack, inner);
    case EffectKind::raise: TORCH_CHECK(false, "planted fault '", planted.fault.name, "'"); return;
    case EffectKind::abort: std::abort();
    case EffectKind::hang: hang();
    case EffectKind::cpu_fallback: return fall_back(call, stack, inner);
    case EffectKind::leak:
      planted.leaked.push_back(SimulatedMemory::instance().allocate(static_cast<std::size_t>(effect.amount)));
      return inner(stack);
    default: return edit_outputs(planted, call, stack, inner);
  }
}

}  // namespace driftgate
