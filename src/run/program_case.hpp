#pragma once
// Cases of programs: inputs, reference, and what a device makes of them.
//
// The unit of the bound `ratio` is the floor of an output: what one rounding of every floating input and of the output itself does to
// the fp64 result, in the precision that the policy computes in (u = 2^-24, 2^-11, 2^-8):
//   floor = sqrt(mean over 8 draws of random signs (2 beyond 2^20 inputs, 1 beyond 2^22) and all elements of (f(x (1 ± u)) - f(x))² + u² · mean f(x)²)
// required = RMS error of the device / max(floor, RMS error of the golden), both against fp64. So a golden that was lucky refuses no
// honest device, and without one the number is still seen.
#include "models/program.hpp"
#include "run/reference.hpp"

namespace driftgate {

struct PreparedProgram {
  Case source;
  std::string key, where;                               // source.input_key(); of the settings, for messages
  const Program* program = nullptr;
  Json settings;
  std::vector<ProgramInput> declared;
  std::vector<PreparedInput> inputs;                    // in the order declared
  Digest digest;
};

std::vector<ProgramInput> declared_inputs(const Case& c);   // Errors as prepare_program
PreparedProgram prepare_program(const Case& c);          // Error when the settings do not fit the program, or `weights_missing`

// As the policy asks, on the device. Never throws for what the device does. `placed` sees the tensors there before the program does.
Observation run_program(const PreparedProgram& prepared, Device device, const std::function<void(const Tensors&)>& placed = {});
// fp64 on the CPU, on inputs that `edit` changed.
Observation evaluate_program(const PreparedProgram& prepared, const Edit& edit);
Reference program_reference(const PreparedProgram& prepared);

}  // namespace driftgate
