#pragma once
// Runs an exported program node by node through the boxed dispatcher, on any device, or widened to fp64 as the reference.
//
// Device arguments that the file pins become the device of the run; dtype arguments become double in the reference. Operators outside of
// the dispatcher are those of Python's integers that dynamic shapes need. Errors: `unknown_op`, `unsupported_op`, `bad_argument` naming
// node and argument, `bad_inputs` where the sample inputs are not those that the graph asks for.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pt2/exported.hpp"

namespace driftgate {

using Values = std::map<std::string, c10::IValue>;

struct RunsOn {
  c10::Device device;
  bool widen = false;                                   // fp64 reference
};

// Weights, constants and sample inputs, on the CPU.
Values load_values(const ExportedProgram& program);
// A copy of each tensor on that device, widened for a reference; other values as they are.
c10::IValue placed(const c10::IValue& value, const RunsOn& on);
Values placed(const Values& values, const RunsOn& on);

class NodeCall {
 public:
  NodeCall(const ExportedNode& node, const std::string& where);

  const ExportedNode& node() const { return *node_; }
  std::vector<std::string> tensors() const;             // names of the tensors that it takes
  bool only_asserts() const;                            // it returns and writes nothing
  std::optional<std::int64_t> integer(const std::string& argument, const Values& values) const;
  // The node's results by their names.
  Values run(const Values& values, const RunsOn& on) const;

 private:
  Values bind(const std::vector<c10::IValue>& results) const;
  std::vector<c10::IValue> call(const Values& values, const RunsOn& on) const;

  const ExportedNode* node_;
  std::string where_;
  std::optional<c10::OperatorHandle> op_;               // none: a function of Python's
};

}  // namespace driftgate
