#include "device/executor.hpp"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include "device/torch_types.hpp"
#include "device/warnings.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

bool says_unsupported(const std::string& message) {
  for (const char* phrase : {"not implemented for", "not currently implemented", "Could not run", "is not implemented", "not supported on MPS",
                             "does not support", "doesn't support", "not currently supported", "is only supported when"})
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

Observation Executor::run(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream) const {
  Observation observation;
  const WarningCapture warnings;
  try {
    forward_or_backward(c, inputs, upstream, observation);
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

void Executor::forward_or_backward(const Prepared& c, const std::vector<at::Tensor>& inputs, const Upstream& upstream,
                                   Observation& into) const {
  const c10::Device device = torch_device(device_);
  const bool backward = c.source.direction == Direction::backward;
  const c10::AutoGradMode grad_mode(backward);

  std::vector<at::Tensor> on_device, leaves;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    // A copy even on the CPU: an operator that writes its input must not change the caller's.
    at::Tensor tensor = inputs[i].to(device, inputs[i].scalar_type(), /*non_blocking=*/false, /*copy=*/true);
    if (c.inputs[i].differentiated) leaves.push_back(tensor.requires_grad_(true));
    on_device.push_back(std::move(tensor));
  }
  std::vector<at::Tensor> results = c.op->call(on_device, widen_, device);

  if (!backward) {
    if (c.source.row->gather_indices) gather_indices(c, on_device.at(0), results);
    synchronize(device_);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (results[i].defined()) into.outputs.push_back({i == 0 ? "result" : "result" + std::to_string(i), to_buffer(results[i])});
    return;
  }

  std::vector<at::Tensor> roots, gradients;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!differentiable(results[i])) continue;
    roots.push_back(results[i]);
    gradients.push_back(upstream(i, results[i]).to(device, results[i].scalar_type()));
  }
  if (roots.empty()) throw Error("bad_argument", c.source.row->file + ": " + c.source.id(), "no output is differentiable", "drop the backward direction");
  const std::vector<at::Tensor> found =
      torch::autograd::grad(roots, leaves, gradients, /*retain_graph=*/false, /*create_graph=*/false, /*allow_unused=*/true);
  synchronize(device_);
  std::size_t next = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!c.inputs[i].differentiated) continue;
    const at::Tensor& gradient = found.at(next++);
    if (gradient.defined()) into.outputs.push_back({"grad." + c.inputs[i].name, to_buffer(gradient)});
  }
}

}  // namespace driftgate
