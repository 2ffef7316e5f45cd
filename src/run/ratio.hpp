#pragma once
// The bound `ratio`: RMS errors against fp64, in units of an output's floor (run/program_case.hpp) or of the golden's error.
#include "evidence/evidence.hpp"
#include "run/golden.hpp"
#include "run/reference.hpp"

namespace driftgate {

// golden_required: the golden's RMS error over the floor; 0 where there is none.
Comparison compare_ratio(const Buffer& candidate, const ReferenceOutput& reference, double golden_required);
// `required` stays in units of the floor, `direct` is in those of the candidate's `required`.
GoldenRecord compare_golden_ratio(const GoldenOutput& golden, const Buffer& candidate, const ReferenceOutput& reference);
// RMS difference of two observations over the floor.
double ratio_distance(const Buffer& a, const Buffer& b, const ReferenceOutput& reference);

}  // namespace driftgate
