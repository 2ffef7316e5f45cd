#pragma once
// One object each; schema: docs/schema/report.schema.json. Valid UTF-8 whatever the evidence held.
#include <string>

#include "report/report.hpp"

namespace driftgate {

std::string to_judge_json(const Report& report);   // driftgate.judge/1
std::string to_decide_json(const Report& report);  // driftgate.decide/1
std::string to_json(const Report& report);         // driftgate.report/1: both, and the environment

}  // namespace driftgate
