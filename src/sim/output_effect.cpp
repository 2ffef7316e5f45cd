#include "sim/output_effect.hpp"

#include <algorithm>

#include "device/torch_types.hpp"
#include "sim/edit.hpp"
#include "sim/memory.hpp"
#include "sim/operand.hpp"
#include "sim/reduction.hpp"

namespace driftgate {

namespace {

Tensors chosen_outputs(const Effect& effect, const Call& call, const Stack& arguments, const Stack& results) {
  const Tensors all = all_outputs(call, arguments, results);
  if (!effect.output) return all;
  const auto index = static_cast<std::size_t>(*effect.output);
  return index < all.size() ? Tensors{all[index]} : Tensors{};
}

bool is_among(const at::Tensor& tensor, const Stack& arguments, const std::function<bool(std::size_t position)>& counts) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (counts(i))
      for (const at::Tensor& argument : tensors_of(arguments[i]))
        if (argument.is_same(tensor)) return true;
  return false;
}

bool is_written(const at::Tensor& tensor, const Call& call, const Stack& arguments) {
  return is_among(tensor, arguments, [&](std::size_t i) { return written(formals(call)[i]); });
}

bool is_out(const at::Tensor& tensor, const Call& call, const Stack& arguments) {
  return is_among(tensor, arguments, [&](std::size_t i) { return output_only(call.op, i); });
}

void replace_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner, const std::function<Tensors()>& with) {
  const Stack arguments = stack;
  const Tensors replacements = with();
  inner(stack);
  Tensors outputs = chosen_outputs(planted.fault.effect, call, arguments, stack);
  for (std::size_t i = 0; i < std::min(outputs.size(), replacements.size()); ++i)
    if (replacements[i].defined() && outputs[i].sizes() == replacements[i].sizes()) outputs[i].copy_(replacements[i]);
}

Tensors copies_of(const Tensors& tensors) {
  Tensors copies;
  for (const at::Tensor& tensor : tensors) copies.push_back(tensor.clone());
  return copies;
}

// One row less; one dim more where there are none.
at::Tensor of_wrong_shape(const at::Tensor& t) { return t.dim() == 0 ? t.unsqueeze(0) : t.size(0) > 1 ? t.slice(0, 0, -1) : t.squeeze(0); }

}  // namespace

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

void edit_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  for (at::Tensor& output : chosen_outputs(planted.fault.effect, call, arguments, stack))
    if (output.numel() > 0) output.copy_(edited(planted.fault.effect, output, planted.activations));
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
    } catch (const c10::Error&) {  // the operator takes no wider inputs: nothing is cut
    }
    return cut;
  });
}

void accumulate(const Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  replace_outputs(planted, call, stack, inner,
                  [&] { return Tensors{accumulated_in(torch_dtype(planted.fault.effect.dtype), call, private_copies(call, stack), inner)}; });
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
  const Tensors before = std::move(planted.previous);
  inner(stack);
  Tensors outputs = chosen_outputs(planted.fault.effect, call, arguments, stack);
  planted.previous = copies_of(outputs);
  for (std::size_t i = 0; i < std::min(before.size(), outputs.size()); ++i)
    if (before[i].sizes() == outputs[i].sizes() && before[i].scalar_type() == outputs[i].scalar_type()) outputs[i].copy_(before[i]);
}

// An `out` and a fresh output take the first result's shape; a tensor that is changed in place keeps its own, or its values.
void reuse_first(Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  if (planted.first.empty()) {
    planted.first = copies_of(all_outputs(call, arguments, stack));
    return;
  }
  std::size_t next = 0;
  for (c10::IValue& value : stack)
    value = map_tensors(value, [&](const at::Tensor& output) {
      if (next >= planted.first.size()) return output;
      const at::Tensor& first = planted.first[next++];
      if (!is_written(output, call, arguments)) return first.clone();
      if (first.sizes() != output.sizes() && is_out(output, call, arguments)) output.resize_(first.sizes());
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

bool remembers(const Fault& fault) { return fault.effect.kind == EffectKind::stale_output || fault.effect.kind == EffectKind::reuse_first_result; }

void remember(Planted& planted, const Call& call, Stack& stack, const Compute& inner) {
  const Stack arguments = stack;
  inner(stack);
  planted.previous = copies_of(chosen_outputs(planted.fault.effect, call, arguments, stack));
  if (planted.first.empty()) planted.first = copies_of(all_outputs(call, arguments, stack));
}

}  // namespace driftgate
