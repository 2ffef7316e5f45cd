#pragma once
// A random operator run and tested: samples against their law, and the state of the generator. No reference and no golden.
#include "device/device.hpp"
#include "evidence/evidence.hpp"
#include "run/prepared.hpp"

namespace driftgate {

// Fills stage and outputs. One output a test, its `required` in the statistical bound, limit 1:
//   domain · law · moments · lags · calls     compare/statistics.hpp, on the first output
//   reseed       the same seed gives the same bits
//   state        so does the same state of the generator, taken after the first call
//   strided      operators that write their input only: a step-2 destination obeys the law, and the gaps stay as they were
void run_statistics(Device device, const Prepared& prepared, CaseRecord& record);

}  // namespace driftgate
