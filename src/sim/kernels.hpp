#pragma once
// The one kernel of the simulated device, for every operator: the CPU computes, as the profile says, and the planted faults interfere.
#include "sim/effect.hpp"
#include "sim/profile.hpp"
#include "sim/simulation.hpp"

namespace driftgate {

void use_profile(Profile profile);
void plant_faults(std::vector<Fault> faults, bool observe);
std::vector<Activity> fault_activity();
void run_on_device(const c10::OperatorHandle& op, Stack* stack);

}  // namespace driftgate
