#pragma once
// What the twins of one case share: its inputs, its reference and what the device made of the plain call.
#include <array>
#include <memory>
#include <string>

#include "evidence/evidence.hpp"
#include "run/reference.hpp"

namespace driftgate {

struct Subject {
  Prepared prepared;
  std::vector<at::Tensor> inputs;                       // CPU tensors in the dtypes of the case
  std::unique_ptr<ReferenceMaker> maker;
  Reference reference;
  Observation plain;                                    // stage "" until somebody runs it
  explicit Subject(Prepared ready);
  const Observation& run_plain(const Executor& executor);
};

// Runs a twin. Its record's comparisons are with the device's own plain call, in the units of the reference; the altered calls of
// a pair are compared with their own reference and named "<output>.altered".
CaseRecord run_twin(const Case& twin, Subject& subject, const Executor& executor);

// The operands of row 0 and those of the other rows: along dim 0, of every operand that is as long there as the first one.
std::array<std::vector<at::Tensor>, 2> rows_apart(const std::vector<at::Tensor>& operands);

}  // namespace driftgate
