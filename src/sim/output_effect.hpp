#pragma once
// The effects that change what a call leaves. Each runs `inner`, the call without the fault, and then interferes with its outputs.
#include "sim/effect.hpp"

namespace driftgate {

using Tensors = std::vector<at::Tensor>;

inline const std::vector<c10::Argument>& formals(const Call& call) { return call.op.schema().arguments(); }
// The tensors that the call hands on: its results, or what it wrote where it returns nothing.
Tensors all_outputs(const Call& call, const Stack& arguments, const Stack& results);

void edit_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);  // those of edit.hpp
void truncate_outputs(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void accumulate(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void lose_writes(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void write_outside(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void keep_stale(Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void reuse_first(Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void read_uninitialized(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);
void wrong_shape(const Planted& planted, const Call& call, Stack& stack, const Compute& inner);

}  // namespace driftgate
