#pragma once
// One operator, called through the boxed dispatcher, its arguments converted from a case by the operator's own schema.
//
// Numbers become ints, floats or scalars as the schema says; a number given for a Tensor becomes a wrapped number, so that type
// promotion treats it as Python would; strings name dtypes ("f16", "policy") and memory formats. Error `bad_argument` names the case
// and the argument; `unknown_op` an operator that this LibTorch does not have.
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include <string>
#include <vector>

#include "case/case.hpp"

namespace driftgate {

c10::OperatorHandle find_operator(const std::string& qualified);         // "aten::softmax.int"; the overload "default" is the one without a name
at::Tensor wrapped_number(const c10::Scalar& number);                    // takes part in type promotion as a number does
bool holds_optionals(const c10::Argument& argument);                     // "Tensor?[]"

// A tensor argument's place in the call.
struct TensorSlot {
  std::string name;                                     // the schema's name; "tensors.1" in a list
  std::size_t argument = 0;                             // position in the schema
  int element = -1;                                     // position in a list, or -1
  const TensorArgument* spec = nullptr;
};

enum class Form : std::uint8_t { functional, in_place, out };

// The overload that does the same in place, or into given tensors: same argument names. nullopt where there is none.
std::optional<c10::OperatorHandle> overload_of(const c10::OperatorHandle& functional, Form form);

class BoundOperator {
 public:
  explicit BoundOperator(const Case& c, Form form = Form::functional);     // Error `unknown_op` where there is no such form

  const std::vector<TensorSlot>& slots() const { return slots_; }
  // Calls with these tensors, one a slot. `widen` replaces floating dtype arguments by double (the reference of inexact ops); a
  // factory that the spec gives no device makes its tensors on `device`. `outs`: the results' tensors of an out= form.
  // Returns every tensor of the result, lists flattened and numbers as tensors without dims, then every argument that was written
  // and is not among them.
  std::vector<at::Tensor> call(const std::vector<at::Tensor>& tensors, bool widen, c10::Device device, const std::vector<at::Tensor>& outs = {}) const;
  bool writes(std::size_t slot) const;                                   // in place: the schema says "(a!)"
  std::int64_t integer_argument(const std::string& name) const;          // a plain int argument, such as dim

 private:
  std::string where_;
  c10::OperatorHandle handle_;
  torch::jit::Stack stack_;                             // every argument but the tensors
  std::vector<TensorSlot> slots_;
  std::vector<std::size_t> dtype_positions_;            // arguments that hold a floating dtype
  std::vector<std::size_t> out_positions_;
  std::vector<std::size_t> device_positions_;           // device arguments that the spec leaves open
};

}  // namespace driftgate
