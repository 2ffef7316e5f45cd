#pragma once
// A case made ready to run: its operator bound, its inputs filled.
#include <memory>
#include <string>
#include <vector>

#include "device/operator.hpp"
#include "tensor/buffer.hpp"
#include "tensor/digest.hpp"

namespace driftgate {

struct PreparedInput {
  std::string name;                                     // as in TensorSlot
  Fill fill;
  Buffer buffer;                                        // in the dtype of the case
  bool floating = false;                                // moves by a rounding in the perturbed references (float or complex)
  bool differentiable = false;                          // takes a gradient in the backward direction
  bool differentiated = false;                          // differentiable, and the direction is backward
  bool as_it_is = false;                                // the reference does not widen it: the operator wants its dtype
};

struct Prepared {
  Case source;
  std::string key;                                      // source.input_key()
  std::shared_ptr<const BoundOperator> op;
  std::vector<PreparedInput> inputs;
  Digest digest;                                        // of all inputs, in order
  bool repeated_upstream = false;                       // every slice of the upstream gradient along dim 0 is the first one
};

// Error when the spec does not fit the operator.
Prepared prepare(const Case& c);

}  // namespace driftgate
