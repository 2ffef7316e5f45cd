#pragma once
// The two questions that a training run answers, from the record of one case.
#include <optional>

#include "judge/judgement.hpp"

namespace driftgate {

inline constexpr std::int64_t kTrajectory = 200;                 // steps of a run; an output with fewer is of every so-many-th step
inline constexpr std::string_view kHeldOut = "held_out";          // judged by the row's margin, not by its limit

// nullopt where no trajectory was compared with an ensemble. Fidelity is that of the case's policy while every trajectory stays within the
// limit; else, in fp32, the class of the card's own run with TF32 on, or under amp_bf16, when none leaves the ensemble more than 3 times
// as far as that one does; else none.
std::optional<TrainingVerdict> training_verdict(const CaseRecord& record, const Case& c, const ToleranceRow& row);

}  // namespace driftgate
