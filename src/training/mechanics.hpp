#pragma once
// Training mechanics, exact where exact is due: small programs whose outputs are truths (bool) or whole numbers, judged bit for bit.
//
// Each takes what it puts to the test as its last argument, so that a unit test can hand it a broken one and see it fail.
#include <functional>
#include <string>
#include <vector>

#include "device/generator.hpp"
#include "models/program.hpp"
#include "training/loop.hpp"

namespace driftgate {

// training::optimizer, moves, overfit, accumulation, batch_parts, scaler, checkpoint, resume, generator, autocast
std::vector<Program> mechanics();

namespace mechanic {

using Outputs = std::vector<NamedTensor>;
using Tensor = at::Tensor;

// Three steps of a form of an optimizer, on a parameter with strides of its own, against the plain form in fp64 on the CPU.
// within, moved [2]; gap: what lies between the elements of the strided parameter is untouched.
using Step = std::function<void(Optimizer& optimizer, const std::vector<Tensor>& gradients)>;
Outputs optimizer(const ProgramCall& call, const Step& step);

// One step of a training task (setting "task"): moved [parameters]. A hundred on its first batch: overfit.
Outputs moves(const ProgramCall& call, const TrainingHooks& hooks);
Outputs overfit(const ProgramCall& call, const TrainingHooks& hooks);

// Gradients of a net of whole numbers, of the batch at once (large.*) and of its parts one after the other (parts.*; setting "parts"): equal to the reference.
using Accumulate = std::function<void(const Tensor& loss)>;
Outputs accumulation(const ProgramCall& call, const Accumulate& accumulate);
// The same net forward on the batch (batched) and on its parts (apart).
using Net = std::function<Tensor(const Tensor& x, const Tensor& w1, const Tensor& w2)>;
Outputs batch_parts(const ProgramCall& call, const Net& net);

// Five steps of the gradient scaler (setting "interval", of its growth), the second with an infinity and the last with a NaN: scale [5] before each and after the last, skipped [5],
// parameter [5, 4].
using Unscale = std::function<bool(GradScaler& scaler, std::vector<Tensor>& gradients)>;
Outputs scaler(const ProgramCall& call, const Unscale& unscale);

// A block with the device's own dropout (setting "dropout"), recomputed in the backward pass under the saved state of its generator: same [parameters],
// recomputed (the same output), random (another state gives another one).
using Restore = std::function<void(Generator& generator, const Tensor& state)>;
Outputs checkpoint(const ProgramCall& call, const Restore& restore);
// Six steps, and three that are saved to bytes, read again and followed by three: same [parameters].
using Reload = std::function<void(Optimizer& fresh, const std::vector<Tensor>& moments, std::int64_t steps)>;
Outputs resume(const ProgramCall& call, const Reload& reload);
// same: a restored state gives the same samples. moves: without it they are others.
Outputs generator(const ProgramCall& call, const Restore& restore);

// documented: whether the result of each listed operator has the dtype that PyTorch's documentation of autocast gives for the device's type.
using Run = std::function<Tensor(const std::function<Tensor()>& operation)>;
Outputs autocast(const ProgramCall& call, const Run& run);

}  // namespace mechanic
}  // namespace driftgate
