#include "run/trace.hpp"

#include <ATen/record_function.h>

#include <mutex>

#include "run/reference.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

// A callback is a plain function: what it writes to has to be global.
std::mutex mutex;
std::set<std::string>* target = nullptr;

std::unique_ptr<at::ObserverContext> note(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  const std::lock_guard<std::mutex> lock(mutex);
  if (target && name.starts_with("aten::")) target->emplace(name.substr(6));
  return nullptr;
}

}  // namespace

std::set<std::string> traced_operators(const Case& c) {
  const Prepared prepared = prepare(c);
  ReferenceMaker maker(prepared);
  const std::vector<at::Tensor> inputs = device_inputs(prepared);
  std::set<std::string> seen;
  {
    const std::lock_guard<std::mutex> lock(mutex);
    target = &seen;
  }
  const at::CallbackHandle handle = at::addGlobalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
  const Observation observation = Executor(Device::cpu).run(prepared, inputs, maker.upstream());
  at::removeCallback(handle);
  const std::lock_guard<std::mutex> lock(mutex);
  target = nullptr;
  return observation.stage == "done" ? seen : std::set<std::string>();
}

}  // namespace driftgate
