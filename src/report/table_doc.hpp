#pragma once
// docs/tolerances.md: the tolerance table for people. Generated, never edited; a unit test holds the file to the table.
#include <string>

#include "case/case.hpp"
#include "judge/tolerance.hpp"

namespace driftgate {

std::string tolerance_document(const ToleranceTable& table, const Suite& suite);

}  // namespace driftgate
