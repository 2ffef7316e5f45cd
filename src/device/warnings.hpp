#pragma once
// Collects what LibTorch warns about while it is alive: CPU fallbacks, nondeterministic algorithms. One a thread.
//
// Warnings that LibTorch gives once a process are given each time, so that every case knows its own. Autograd's engine hands the
// warnings of its device threads to the caller, so backward is covered.
#include <c10/util/Exception.h>

#include <set>
#include <string>

namespace driftgate {

class WarningCapture {
 public:
  WarningCapture() : always_(true), guard_(&handler_) {}
  const std::set<std::string>& messages() const { return handler_.messages; }

 private:
  struct Handler : c10::WarningHandler {
    void process(const c10::Warning& warning) override {
      messages.insert(warning.msg().substr(0, 240));
    }
    std::set<std::string> messages;
  };
  c10::WarningUtils::WarnAlways always_;
  Handler handler_;
  c10::WarningUtils::WarningHandlerGuard guard_;
};

}  // namespace driftgate
