#include "device/executor.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "device/autocast.hpp"
#include "device/torch_types.hpp"
#include "device/without_cudnn.hpp"
#include "device/warnings.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

bool says_unsupported(const std::string& message) {
  for (const char* phrase : {"not implemented for", "not currently implemented", "Could not run", "is not implemented", "not supported on MPS",
                             "does not support", "doesn't support", "not currently supported", "is only supported when", "could not create a primitive descriptor"})
    if (message.find(phrase) != std::string::npos) return true;
  return false;
}

std::string first_line(std::string text) {
  text = text.substr(0, text.find('\n'));
  return text.substr(0, 300);
}

bool differentiable(const at::Tensor& tensor) { return tensor.defined() && tensor.requires_grad(); }

// Ties may be ordered freely: an index is judged by the element that it names.
void gather_indices(const Prepared& c, const at::Tensor& self, std::vector<at::Tensor>& results) {
  const std::int64_t dim = c.op->integer_argument("dim");
  for (at::Tensor& result : results)
    if (result.scalar_type() == c10::kLong) result = self.gather(dim, result);
}

}  // namespace

Observation Executor::run(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream,
                          const Road& road) const {
  return observe([&](Observation& into) {
    if (c.source.direction == Direction::forward) forward(c, inputs, road, into);
    else backward(c, inputs, upstream, road, into);
  });
}

Observation observe(const std::function<void(Observation& into)>& fill) {
  Observation observation;
  const WarningCapture warnings;
  try {
    fill(observation);
  } catch (const c10::OutOfMemoryError& error) {
    observation.stage = "out_of_memory";
    observation.message = first_line(error.what_without_backtrace());
  } catch (const std::bad_alloc&) {
    observation.stage = "out_of_memory";
    observation.message = "std::bad_alloc";
  } catch (const c10::NotImplementedError& error) {
    observation.stage = "unsupported";
    observation.message = first_line(error.what_without_backtrace());
  } catch (const c10::Error& error) {
    observation.message = first_line(error.what_without_backtrace());
    observation.stage = says_unsupported(observation.message) ? "unsupported" : "raised";
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    observation.message = first_line(error.what());
    observation.stage = says_unsupported(observation.message) ? "unsupported" : "raised";
  }
  if (observation.stage != "done") observation.outputs.clear();
  observation.warnings = warnings.messages();
  return observation;
}

struct Executor::Call {
  std::vector<LaidOut> placed;
  std::vector<at::Tensor> operands, leaves;
};

// A copy even on the CPU: an operator that writes its input must not change the caller's.
Executor::Call Executor::place(const Prepared& c, const std::vector<at::Tensor>& inputs, const Road& road) const {
  Call call;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const c10::Device where = c.inputs[i].on_host ? c10::Device(c10::kCPU) : torch_device(device_);
    call.placed.push_back(lay_out(inputs[i], road.layouts.empty() ? Layout::contiguous : road.layouts[i], where));
    at::Tensor operand = call.placed.back().view;
    const bool due = c.source.direction == Direction::backward ? c.inputs[i].differentiated : road.record_gradients && c.inputs[i].differentiable;
    if (due && (road.gradients.empty() || road.gradients[i])) call.leaves.push_back(operand.requires_grad_(true));
    call.operands.push_back(std::move(operand));
  }
  return call;
}

std::vector<at::Tensor> Executor::called(const Prepared& c, const std::vector<at::Tensor>& operands, const std::vector<at::Tensor>& outs) const {
  const c10::Device device = torch_device(device_);
  const Autocast region(device.type(), widen_ ? Policy::fp32 : c.source.policy);
  std::optional<WithoutCudnn> without;
  if (!c.source.row->cudnn) without.emplace();
  return c.op->call(operands, widen_, device, outs);
}

void Executor::forward(const Prepared& c, const std::vector<at::Tensor>& inputs, const Road& road, Observation& into) const {
  const c10::AutoGradMode grad_mode(road.record_gradients);
  Call call = place(c, inputs, road);
  std::vector<LaidOut> outs;
  std::vector<at::Tensor> targets;
  for (const at::Tensor& out : road.outs) {
    outs.push_back(lay_out(at::zeros_like(out), out.dim() == 0 ? Layout::offset : Layout::slice, torch_device(device_)));
    targets.push_back(outs.back().view);
  }
  std::vector<at::Tensor> results = called(c, call.operands, targets);
  if (c.source.row->gather_indices) gather_indices(c, call.operands.at(0), results);
  synchronize(device_);
  for (std::size_t i = 0; i < results.size(); ++i)
    if (results[i].defined()) into.outputs.push_back({i == 0 ? "result" : "result" + std::to_string(i), to_buffer(results[i])});
  for (std::size_t i = 0; i < outs.size(); ++i)
    if (!gaps_kept(outs[i])) into.side_effects.push_back("memory outside of out= " + std::to_string(i) + " was written");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!gaps_kept(call.placed[i])) into.side_effects.push_back("memory outside of '" + c.inputs[i].name + "' was written");
    if (road.inputs_kept && to_buffer(call.operands[i]).bytes != to_buffer(inputs[i]).bytes)
      into.side_effects.push_back("'" + c.inputs[i].name + "' was modified");
  }
}

void Executor::backward(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream, const Road& road,
                        Observation& into) const {
  const c10::AutoGradMode grad_mode(true);
  const Call call = place(c, inputs, road);
  const std::vector<at::Tensor> results = called(c, call.operands);
  std::vector<at::Tensor> roots, gradients;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!differentiable(results[i])) continue;
    const at::Tensor values = upstream(i, results[i]).to(results[i].scalar_type());
    const bool whole = values.dim() == 0 || values.numel() == 0;
    roots.push_back(results[i]);
    gradients.push_back(lay_out(values, whole ? Layout::contiguous : road.upstream, torch_device(device_)).view);
  }
  if (roots.empty()) throw Error("bad_argument", c.source.row->file + ": " + c.source.id(), "no output is differentiable", "drop the backward direction");
  const std::vector<at::Tensor> found =
      torch::autograd::grad(roots, call.leaves, gradients, /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/true);
  synchronize(device_);
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!call.operands[i].requires_grad()) continue;
    const at::Tensor& gradient = found.at(next++);
    if (gradient.defined()) into.outputs.push_back({"grad." + c.inputs[i].name, to_buffer(gradient)});
  }
}

}  // namespace driftgate
