#pragma once
#include <string>

#include "report/report.hpp"

namespace driftgate {

std::string to_markdown(const Report& report);

}  // namespace driftgate
