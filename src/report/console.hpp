#pragma once
#include <string>

#include "report/report.hpp"

namespace driftgate {

std::string to_console(const Report& report);

}  // namespace driftgate
