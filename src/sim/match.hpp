#pragma once
// Whether a fault's `op` and `when` hold for a call, as far as the call alone tells. fault_state.hpp adds what earlier calls decide.
#include "sim/call.hpp"
#include "sim/fault.hpp"

namespace driftgate {

bool matches(const Fault& fault, const Call& call);
bool any_name_matches(const std::string& globs, const std::vector<std::string>& names);
// Position of the operand that `when` speaks of: its `arg`, else the first tensor; none when the call has no tensor.
std::optional<std::size_t> operand_position(const When& when, const Call& call);

}  // namespace driftgate
