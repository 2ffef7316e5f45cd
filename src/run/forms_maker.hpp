#pragma once
// Makes forms.tsv: which roads of twin.hpp each operator and argument set has, each tried on the CPU.
#include "case/case.hpp"

namespace driftgate {

Forms make_forms(const Suite& suite, const Filter& filter);

}  // namespace driftgate
