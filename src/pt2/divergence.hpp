#pragma once
// Where an exported program begins to diverge on a device.
//
// Each node runs on the device, on what the device itself has computed so far, and once more on a copy of the same inputs in fp64 on the
// CPU: what a node adds, not what it inherits. The error is measured as the bound `general` (docs/numerics.md), with the sensitivity to one
// fp32 rounding of the node's floating inputs, against the first limits of design.md §5: 64, in half 16 of the loose tier. Integers and
// bool must be equal, but an index may name another element of the same value. The same node in the CPU's own arithmetic stands beside.
// The whole graph runs in fp64 too: what reaches the outputs in the end is told, and judged only where it is no number on one side.
//
// Error `random_node` where a node gives other results each time; `no_reference` where fp64 cannot run one.
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "json.hpp"
#include "pt2/exported.hpp"
#include "tensor/buffer.hpp"

namespace driftgate {

struct NodeResult {
  std::string node, target, layer;
  std::string output;                                   // the worst of its tensors
  std::string dtype;
  std::string problem;                                  // "over_limit", "differs", "nonfinite", "wrong_shape", "raised", "unsupported"; empty: it agrees
  std::string message;
  double required = 0, cpu_required = 0, limit = 0, max_error = 0;
  bool agrees() const { return problem.empty(); }
};

struct EndResult {                                      // one output of the program, in the end
  std::string output;
  double relative_rms = 0, max_error = 0;               // against the whole graph in fp64
  bool finite = true;                                   // NaN and infinity stand where the reference has them
};

struct Divergence {
  std::vector<NodeResult> nodes;                        // in the order of the graph; those without tensors are left out
  std::vector<EndResult> outputs;                       // empty when the device could not run to the end
  std::map<std::string, Buffer> values;                 // the device's outputs
  const NodeResult* first() const;                      // the first that does not agree, or null
  bool agrees() const;                                  // all of them, and something was compared
};

using NodeProgress = std::function<void(std::size_t done, std::size_t total)>;
Divergence find_divergence(const ExportedProgram& program, Device device, const NodeProgress& progress);
Json to_json(const Divergence& divergence);

}  // namespace driftgate
