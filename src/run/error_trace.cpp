#include "run/error_trace.hpp"

#include <ATen/record_function.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>

#include "device/torch_types.hpp"
#include "error.hpp"
#include "run/program_case.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

// Operators whose results follow from more than the values of their inputs: random ones, memory that nobody wrote, views.
bool unrepeatable(const c10::OperatorHandle& op) {
  const std::string& name = op.schema().name();
  const auto& returns = op.schema().returns();
  return op.hasTag(at::Tag::nondeterministic_seeded) || name.find("empty") != std::string::npos || name.starts_with("aten::resize") ||
         std::any_of(returns.begin(), returns.end(), [](const c10::Argument& a) { return a.alias_info() && !a.alias_info()->isWrite(); });
}

// One run of a program under the profiling hook. Autograd calls from threads of its own, but never two at a time for one device.
class Recorder {
 public:
  Recorder(c10::Device device, std::string substituted) : device_(device), substituted_(std::move(substituted)) {
    active_ = this;
    handle_ = at::addGlobalCallback(at::RecordFunctionCallback(begin, end).needsInputs(true).needsOutputs(true).scopes(
        {at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
  }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() {
    at::removeCallback(handle_);
    active_ = nullptr;
  }

  void name_parameters(const Tensors& placed, const std::vector<ProgramInput>& declared) {
    for (const ProgramInput& input : declared)
      if (input.parameter) parameters_[placed.at(input.name).const_data_ptr()] = input.name.substr(0, input.name.rfind('.'));
  }
  std::vector<TracedCall> take() { return std::move(calls_); }

 private:
  struct Context : at::ObserverContext {
    int call = -1, caller = -1;
    std::int64_t node = -1;                             // the backward node before this one
    std::optional<c10::OperatorHandle> op;
    torch::jit::Stack before, arguments;
  };

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    const at::DisableRecordFunctionGuard quiet;
    return active_ ? active_->start(function) : nullptr;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    const at::DisableRecordFunctionGuard quiet;
    if (active_ && context) active_->finish(function, static_cast<Context&>(*context));
  }

  bool on_device(const c10::IValue& value) const {
    if (value.isTensor()) return value.toTensor().defined() && value.toTensor().device().type() == device_.type();
    if (!value.isTensorList()) return false;
    const std::vector<at::Tensor> list = value.toTensorVector();
    return std::any_of(list.begin(), list.end(), [&](const at::Tensor& tensor) { return on_device(tensor); });
  }

  std::unique_ptr<at::ObserverContext> start(const at::RecordFunction& function) {
    const std::lock_guard<std::mutex> lock(mutex_);
    auto context = std::make_unique<Context>();
    context->caller = current_;
    context->node = node_;
    if (function.scope() == at::RecordScope::BACKWARD_FUNCTION) {
      node_ = function.seqNr();
      return context;
    }
    const std::optional<c10::OperatorName> name = function.operator_name();
    const auto inputs = function.inputs();
    if (!name || !name->name.starts_with("aten::") || std::none_of(inputs.begin(), inputs.end(), [&](const c10::IValue& value) { return on_device(value); }))
      return context;
    const auto op = c10::Dispatcher::singleton().findSchema(*name);
    if (!op || op->schema().arguments().size() != inputs.size()) return context;
    context->call = static_cast<int>(calls_.size());
    TracedCall call;
    call.op = name->overload_name.empty() ? name->name : name->name + "." + name->overload_name;
    call.backward = node_ >= 0;
    call.parent = current_;
    call.layer = layer_of(inputs, function.seqNr());
    calls_.push_back(std::move(call));
    current_ = context->call;
    if (unrepeatable(*op)) return context;
    if (!substituted_.empty() && substituted_ != calls_.back().op) return context;
    context->op = op;
    context->arguments.assign(inputs.begin(), inputs.end());
    context->before = copied_to_cpu(context->arguments);
    return context;
  }

  void finish(const at::RecordFunction& function, Context& context) {
    const std::lock_guard<std::mutex> lock(mutex_);
    node_ = context.node;
    current_ = context.caller;
    if (!context.op) return;
    const torch::jit::Stack outputs(function.outputs().begin(), function.outputs().end());
    if (substituted_.empty()) calls_[static_cast<std::size_t>(context.call)].local = local_error(*context.op, context.before, outputs, context.arguments);
    else substitute(*context.op, context.before, outputs, context.arguments);
  }

  // A backward node has the sequence number of the forward call that made it.
  std::string layer_of(c10::ArrayRef<const c10::IValue> inputs, std::int64_t sequence) {
    std::string layer;
    for (const c10::IValue& value : inputs) {
      if (!value.isTensor() || !value.toTensor().defined() || !value.toTensor().has_storage()) continue;
      const auto parameter = parameters_.find(value.toTensor().storage().data());
      if (parameter != parameters_.end()) layer = parameter->second;
    }
    if (node_ >= 0) {
      const auto forward = layers_.find(node_);
      return forward == layers_.end() ? layer : forward->second;
    }
    if (layer.empty() && current_ >= 0) layer = calls_[static_cast<std::size_t>(current_)].layer;
    if (layer.empty()) layer = layer_.empty() || layer_.starts_with("after ") ? layer_ : "after " + layer_;
    layer_ = layer;
    if (sequence >= 0) layers_[sequence] = layer;        // of the calls that see one number the last makes the node
    return layer;
  }

  static inline Recorder* active_ = nullptr;            // a callback is a plain function
  static inline thread_local int current_ = -1;
  static inline thread_local std::int64_t node_ = -1;
  std::mutex mutex_;
  c10::Device device_;
  std::string substituted_;                             // the operator whose results are the CPU's; empty: none, and all are checked
  at::CallbackHandle handle_ = 0;
  std::map<const void*, std::string> parameters_;
  std::map<std::int64_t, std::string> layers_;
  std::string layer_;
  std::vector<TracedCall> calls_;
};

bool adds(const TracedCall& call) { return call.local.checked && !(call.local.required <= kMostLocalError); }

std::optional<std::size_t> first_that_adds(const std::vector<TracedCall>& calls) {
  std::vector<bool> calls_one(calls.size(), false);
  for (std::size_t i = calls.size(); i-- > 0;)           // callers begin before what they call
    if ((adds(calls[i]) || calls_one[i]) && calls[i].parent >= 0) calls_one[static_cast<std::size_t>(calls[i].parent)] = true;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (adds(calls[i]) && !calls_one[i]) return i;
  return std::nullopt;
}

// The worst output in units of its floor; an error of the device is infinitely far.
std::pair<std::string, double> worst(const Observation& observation, const Reference& reference) {
  std::pair<std::string, double> found{"", observation.stage == "done" ? 0 : std::numeric_limits<double>::infinity()};
  for (std::size_t i = 0; i < observation.outputs.size() && i < reference.outputs.size(); ++i) {
    const ReferenceOutput& truth = reference.outputs[i];
    const double required = compare_output(observation.outputs[i].value, truth).required[static_cast<std::size_t>(truth.bound)];
    if (!(required <= found.second)) found = {truth.name, required};
  }
  return found;
}

Observation run_recorded(const PreparedProgram& prepared, Device device, const std::string& substituted, std::vector<TracedCall>* calls) {
  Recorder recorder(torch_device(device), substituted);
  Observation observation = run_program(prepared, device, [&](const Tensors& placed) { recorder.name_parameters(placed, prepared.declared); });
  if (calls) *calls = recorder.take();
  return observation;
}

}  // namespace

ErrorTrace trace_error(const Case& c, Device device) {
  if (c.level() != SuiteLevel::model) throw Error("usage", c.id(), "only a model has layers to trace", "give a case of level model");
  const PreparedProgram prepared = prepare_program(c);
  const Reference reference = program_reference(prepared);
  ErrorTrace trace;
  if (!reference.ok) {
    trace.stage = "no_reference";
    trace.message = reference.message;
    return trace;
  }
  const Observation observation = run_recorded(prepared, device, "", &trace.calls);
  trace.stage = observation.stage;
  trace.message = observation.message;
  trace.first = first_that_adds(trace.calls);
  std::tie(trace.output, trace.required) = worst(run_program(prepared, device), reference);
  trace.substituted = trace.required;
  if (trace.first) trace.substituted = worst(run_recorded(prepared, device, trace.calls[*trace.first].op, nullptr), reference).second;
  return trace;
}

}  // namespace driftgate
