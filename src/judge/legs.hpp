#pragma once
// The legs of one policy, filled from the judgements of its cases and, for the gate, from the environment.
#include "judge/decision.hpp"

namespace driftgate {

// Every leg that the rules describe. One that nothing fills (its cases are of a later release) is `missing`.
std::map<std::string, Leg> legs_of(Policy policy, const JudgedRun& run, const Suite& suite, const DecisionRules& rules);

// The checks of run.environment["gate"] = {"available": true, "checks": [{"name", "ok", "detail"}, …]}; null where the gate
// could not look: no such object, the device not available, or no check at all.
const Json* gate_checks(const RunInfo& run);

double share(std::int64_t part, std::int64_t whole);  // 0 of nothing

}  // namespace driftgate
