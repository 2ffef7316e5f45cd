#pragma once
// The bound `ensemble`: trajectories of a training run against the golden's ensemble (compare/ensemble.hpp).
//
// "held_out" is no trajectory: its `required` is the relative distance from the ensemble's mean, its limit the row's margin. All zeros,
// which must not pass, stands here for a run that does not train: of "loss" it is a tenth of what a loss that stays where it starts would
// need, so the reference moves by ten times the limit at least; of every other output it is 0.
#include "evidence/evidence.hpp"
#include "run/golden.hpp"
#include "run/reference.hpp"

namespace driftgate {

// Gives the outputs of bound ensemble what the golden knows; nothing where it is missing.
void attach_ensembles(const GoldenCase* golden, Policy policy, Reference& reference);

Comparison compare_ensemble(const Buffer& candidate, const ReferenceOutput& reference);
// Of two observations, in the units of the ensemble.
double ensemble_distance(const Buffer& a, const Buffer& b, const ReferenceOutput& reference);
GoldenRecord compare_golden_ensemble(const GoldenOutput& golden, const Buffer& candidate, const ReferenceOutput& reference);
// Of the fp64 reference itself: an fp32 ensemble that it leaves is not trusted.
double reference_required(const ReferenceOutput& reference);

// The climbs of each trajectory, and of "loss" the metrics golden_gap (largest relative distance from the golden's own run) and golden_equal
// (share of steps that equal it in bits).
void add_trajectories(const Reference& reference, const std::map<std::string, Buffer>& values, const GoldenCase* golden, CaseRecord& record);

// For the exporter. Runs the other members and attaches their ensembles; the reason where one of them does not run.
std::string make_ensembles(const Case& c, Device device, const Observation& first, Reference& reference);
// The same card's amp_bf16 run of an fp32 case: what half-class means here.
void add_half_pass(const Case& c, Device device, const Reference& reference, GoldenCase& golden);

}  // namespace driftgate
