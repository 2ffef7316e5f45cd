#pragma once
// What a planted fault does to a call: it may change the arguments before, the results after, or take the call's place.
#include <set>

#include "sim/call.hpp"
#include "sim/fault.hpp"
#include "sim/generator.hpp"

namespace driftgate {

// A planted fault and what it remembers of earlier calls.
struct Planted {
  Fault fault;
  std::int64_t calls = 0, activations = 0;
  bool prepared = false;                                // its after_op was called
  std::set<std::string> shapes;                         // of new_shape
  std::vector<at::Tensor> first, previous;              // outputs of the first and of the last call, for the effects that hand them out
  std::vector<c10::DataPtr> leaked;
};

// Replaces the arguments on the stack by the results.
using Compute = std::function<void(Stack&)>;

// Whether the effect can change anything about this call: a contiguous operand has no strides to ignore.
bool applicable(const Planted& planted, const Call& call);
// Runs `inner` with the fault around it.
void apply(Planted& planted, const Call& call, Stack& stack, const Compute& inner);
// Whether the fault hands out outputs of calls that came before, and must see those on which it does not act.
bool remembers(const Fault& fault);
void remember(Planted& planted, const Call& call, Stack& stack, const Compute& inner);

RandomMode current_random_mode();                       // how the running call draws random numbers

}  // namespace driftgate
