#include "sim/kernels.hpp"

#include <ATen/core/LegacyTypeDispatch.h>

#include <array>
#include <mutex>

#include "sim/aliases.hpp"
#include "sim/callers.hpp"
#include "sim/composed.hpp"
#include "sim/generator.hpp"
#include "sim/kernel_call.hpp"
#include "sim/match.hpp"

namespace driftgate {
namespace {

struct DeviceState {
  std::recursive_mutex mutex;  // backward runs in a thread of its own
  Profile profile;
  std::vector<Planted> planted;
  bool observe = false;
};

DeviceState& state() {
  static DeviceState* const instance = new DeviceState;
  return *instance;
}

// What MPS calls a kernel that arrives here under its general name.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMpsNames = {{
    {"aten::convolution", "aten::_mps_convolution"},
    {"aten::convolution", "aten::_mps_convolution_transpose"},
    {"aten::convolution", "aten::convolution_overrideable"},
    {"aten::convolution_backward", "aten::mps_convolution_backward"},
    {"aten::convolution_backward", "aten::mps_convolution_transpose_backward"},
    {"aten::convolution_backward", "aten::convolution_backward_overrideable"},
    {"aten::_thnn_fused_lstm_cell", "aten::_lstm_mps"},
    {"aten::_thnn_fused_lstm_cell_backward_impl", "aten::lstm_mps_backward"},
}};

std::string joined(const std::string& name, const std::string& overload) { return overload.empty() ? name : name + "." + overload; }

std::string_view base(std::string_view name) {
  while (!name.empty() && name.back() == '_') name.remove_suffix(1);
  return name;
}

void add_names(std::vector<std::string>& names, const std::string& name, const std::string& overload) {
  names.push_back(name);
  if (!overload.empty()) names.push_back(joined(name, overload));
}

// The operator itself, then the callers that only pass it on: add_.Tensor calls add.out.
Call make_call(const c10::OperatorHandle& op, const Stack& original, const Stack& arguments) {
  Call call{op, original, arguments, {}, {}};
  const std::string& name = op.schema().name();
  add_names(call.names, name, op.schema().overload_name());
  for (const auto& [general, on_mps] : kMpsNames)
    if (general == name) call.names.emplace_back(on_mps);
  bool passing_on = true;
  const std::vector<Caller>& around = callers();
  for (std::size_t i = around.size(); i-- > 0;) {
    passing_on = passing_on && base(around[i].name) == base(name);
    add_names(passing_on ? call.names : call.enclosing, around[i].name, around[i].overload);
  }
  return call;
}

const Kernel* kernel_of(const std::map<std::string, Kernel, std::less<>>& kernels, const c10::OperatorHandle& op) {
  for (const std::string& key : {joined(op.schema().name(), op.schema().overload_name()), op.schema().name()})
    if (const auto found = kernels.find(key); found != kernels.end()) return &found->second;
  return nullptr;
}

// Operators that move or choose values and compute none: a device that flushes subnormals keeps them there.
bool computes(const c10::OperatorHandle& op) {
  static const std::set<std::string, std::less<>> movers = {"copy",
                                                            "_copy_from",
                                                            "_copy_from_and_resize",
                                                            "clone",
                                                            "view",
                                                            "as_strided",
                                                            "_reshape_alias",
                                                            "cat",
                                                            "stack",
                                                            "index",
                                                            "_index_put_impl",
                                                            "index_put",
                                                            "index_select",
                                                            "index_copy",
                                                            "index_fill",
                                                            "gather",
                                                            "scatter",
                                                            "take",
                                                            "put",
                                                            "where",
                                                            "masked_fill",
                                                            "masked_select",
                                                            "masked_scatter",
                                                            "flip",
                                                            "roll",
                                                            "repeat",
                                                            "permute",
                                                            "unfold",
                                                            "fill",
                                                            "zero",
                                                            "set",
                                                            "resize",
                                                            "constant_pad_nd",
                                                            "tril",
                                                            "triu",
                                                            "neg",
                                                            "abs",
                                                            "sign",
                                                            "signbit",
                                                            "copysign",
                                                            "isnan",
                                                            "view_as_real",
                                                            "view_as_complex",
                                                            "real",
                                                            "imag",
                                                            "unfold_copy",
                                                            "embedding",
                                                            "im2col",
                                                            "channel_shuffle",
                                                            "pixel_shuffle",
                                                            "pixel_unshuffle",
                                                            "nonzero",
                                                            "_local_scalar_dense",
                                                            "empty_strided",
                                                            "empty",
                                                            "eye",
                                                            "diag",
                                                            "reflection_pad1d",
                                                            "reflection_pad2d",
                                                            "reflection_pad3d",
                                                            "replication_pad1d",
                                                            "replication_pad2d",
                                                            "replication_pad3d"};
  return movers.count(base(std::string_view(op.schema().name()).substr(6))) == 0;
}

void with_hook(const std::function<void(at::Tensor&)>& hook, const c10::IValue& value) {
  for (at::Tensor tensor : tensors_of(value))
    if (tensor.is_floating_point() || tensor.is_complex()) hook(tensor);
}

void compute_plainly(const c10::OperatorHandle& op, Stack& stack) {
  if (const Kernel* kernel = kernel_of(state().profile.kernels, op)) return (*kernel)(op, stack);
  if (const Kernel* kernel = kernel_of(composed_kernels(), op)) return (*kernel)(op, stack);
  op.callBoxed(stack);
}

// Strides and all: a derivative may ask which layout its forward call saw (linalg_det does).
at::Tensor same_layout_copy(const at::Tensor& tensor) {
  const at::Tensor part = unexpanded(tensor);
  return at::empty_strided(part.sizes(), part.strides(), part.options()).copy_(part).as_strided(tensor.sizes(), tensor.strides());
}

void compute_with_profile(const c10::OperatorHandle& op, Stack& stack) {
  const Profile& profile = state().profile;
  const bool hooked = (profile.on_input || profile.on_output) && computes(op);
  if (!hooked) return compute_plainly(op, stack);
  const Stack arguments = stack;
  const auto& formals = op.schema().arguments();
  for (std::size_t i = 0; i < formals.size() && profile.on_input; ++i) {
    if (output_only(op, i)) continue;
    const bool statistics = formals[i].name().starts_with("running_");   // batch norm writes them, though its schema does not say so
    if (!written(formals[i]) && !statistics) {
      stack[i] = map_tensors(stack[i], [](const at::Tensor& t) {
        if (!t.is_floating_point() && !t.is_complex()) return t;
        at::Tensor copy = same_layout_copy(t);
        keep_wrapped(t, copy);
        return copy;
      });
    }
    with_hook(profile.on_input, stack[i]);
  }
  compute_plainly(op, stack);
  if (!profile.on_output) return;
  for (const c10::IValue& value : stack) with_hook(profile.on_output, value);
  for (std::size_t i = 0; i < formals.size() && stack.empty(); ++i)
    if (written(formals[i])) with_hook(profile.on_output, arguments[i]);
}

bool random(const c10::OperatorHandle& op) {
  if (op.hasTag(at::Tag::nondeterministic_seeded)) return true;
  for (const c10::Argument& argument : op.schema().arguments())
    if (argument.type()->str().find("Generator") != std::string::npos) return true;
  return false;
}

void compute(const c10::OperatorHandle& op, Stack& stack, const std::optional<at::Generator>& generator) {
  if (!random(op)) return compute_with_profile(op, stack);
  const RandomScope scope(generator ? *generator : default_generator(), current_random_mode());
  compute_with_profile(op, stack);
}

std::string shapes_of(const Call& call) {
  std::string text = call.op.schema().name();
  for (const c10::IValue& argument : call.arguments)
    for (const at::Tensor& tensor : tensors_of(argument)) text += c10::str(tensor.sizes());
  return text;
}

// What depends on earlier calls. Call it once for each call that otherwise matches.
bool due(Planted& planted, const Call& call, bool was_prepared) {
  const When& when = planted.fault.when;
  if (!when.after_op.empty() && !was_prepared) return false;
  if (when.new_shape && *when.new_shape != planted.shapes.insert(shapes_of(call)).second) return false;
  ++planted.calls;
  if (when.nth && planted.calls != *when.nth) return false;
  return !when.every || planted.calls % *when.every == 0;
}

bool needs_an_error(const Fault& fault) {
  return fault.effect.kind == EffectKind::no_error_on_bad_index || fault.effect.kind == EffectKind::no_error_on_bad_argument;
}

struct Touching {
  Planted* planted;
  bool acts;  // else it only remembers
};

// The faults that have to do with this call, in the order of the file.
std::vector<Touching> touching(const Call& call) {
  std::vector<Touching> found;
  for (Planted& planted : state().planted) {
    const bool was_prepared = planted.prepared;
    if (!planted.fault.when.after_op.empty() && any_name_matches(planted.fault.when.after_op, call.names)) planted.prepared = true;
    if (!matches(planted.fault, call) || !applicable(planted, call)) continue;
    const bool acts = state().observe || due(planted, call, was_prepared);
    if (acts || remembers(planted.fault)) found.push_back({&planted, acts});
  }
  return found;
}

void observe(const std::vector<Touching>& faults, Stack& stack, const Compute& compute_it) {
  for (const Touching& touch : faults)
    if (!needs_an_error(touch.planted->fault)) ++touch.planted->activations;
  try {
    compute_it(stack);
  } catch (const c10::Error&) {
    for (const Touching& touch : faults)
      if (needs_an_error(touch.planted->fault)) ++touch.planted->activations;
    throw;
  }
}

void with_faults(const c10::OperatorHandle& op, const Stack& original, Stack& stack, Compute compute_it) {
  if (state().planted.empty()) return compute_it(stack);
  const Stack as_called = stack;
  const Call call = make_call(op, original, as_called);
  const std::vector<Touching> faults = touching(call);
  if (state().observe) return observe(faults, stack, compute_it);
  for (const Touching& touch : faults) {
    touch.planted->activations += touch.acts ? 1 : 0;
    compute_it = [touch, &call, inner = std::move(compute_it)](Stack& inputs) {
      (touch.acts ? apply : remember)(*touch.planted, call, inputs, inner);
    };
  }
  compute_it(stack);
}

// A copy is one kernel with two names: copy_(self, src) hands on to _copy_from(src, self), and a fault may be in either.
void copy(const Stack& original, Stack& stack) {
  static const c10::OperatorHandle inner_op = c10::Dispatcher::singleton().findSchemaOrThrow("aten::_copy_from", "");
  Stack inner = {stack[1], stack[0], stack[2]};
  with_faults(inner_op, {original[1], original[0], original[2]}, inner, [](Stack& inputs) { compute_with_profile(inner_op, inputs); });
  stack = {stack[0]};
}

}  // namespace

void use_profile(Profile profile) { state().profile = std::move(profile); }

void plant_faults(std::vector<Fault> faults, bool observing) {
  const std::lock_guard lock(state().mutex);
  state().planted.clear();
  for (Fault& fault : faults) state().planted.push_back(Planted{std::move(fault), 0, 0, false, {}, {}, {}, {}});
  state().observe = observing;
}

std::vector<Activity> fault_activity() {
  const std::lock_guard lock(state().mutex);
  std::vector<Activity> activities;
  for (const Planted& planted : state().planted) activities.push_back({planted.activations, planted.prepared});
  return activities;
}

void run_on_device(const c10::OperatorHandle& op, Stack* stack) {
  const at::AutoDispatchBelowADInplaceOrView below_autograd;
  const std::lock_guard lock(state().mutex);
  const Stack original = torch::jit::pop(*stack, op.schema().arguments().size());
  Aliases aliases;
  Stack values;
  for (const c10::IValue& value : original) values.push_back(aliases.to_cpu(value));
  {
    const Unwatched unwatched;
    with_faults(op, original, values, [&](Stack& inner) {
      if (op.schema().name() == "aten::copy_")
        copy(original, inner);
      else
        compute(op, inner, aliases.generator());
    });
  }
  aliases.settle();
  for (const c10::IValue& value : values) stack->push_back(aliases.to_device(value));
}

}  // namespace driftgate
