#include "sim/callers.hpp"

#include <ATen/record_function.h>

namespace driftgate {
namespace {

thread_local std::vector<Caller> stack;
thread_local int unwatched = 0;

struct Pushed : at::ObserverContext {};                 // its presence says that the start was recorded

std::unique_ptr<at::ObserverContext> started(const at::RecordFunction& function) {
  if (unwatched > 0) return nullptr;
  stack.push_back({function.name(), function.overload_name()});
  return std::make_unique<Pushed>();
}

void ended(const at::RecordFunction&, at::ObserverContext* context) {
  if (context && !stack.empty()) stack.pop_back();
}

}  // namespace

void watch_callers() {
  at::addGlobalCallback(at::RecordFunctionCallback(&started, &ended).scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
}

const std::vector<Caller>& callers() { return stack; }

Unwatched::Unwatched() { ++unwatched; }
Unwatched::~Unwatched() { --unwatched; }

}  // namespace driftgate
