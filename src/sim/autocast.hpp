#pragma once

namespace driftgate {

// Once a process: what autocast casts on the simulated device.
void register_autocast();

}  // namespace driftgate
