#pragma once
#include <string>

#include "report/report.hpp"

namespace driftgate {

std::string to_junit(const Report& report);

}  // namespace driftgate
