#pragma once
// Evidence and the table give one judgement a case: pass, fail, skip, untrusted or error, each with a named reason.
//
// Rules, first that holds:
//   stage crashed, timed_out, out_of_memory, raised, wrong_shape, side_effect      fail   (reason: the stage)
//   stage unsupported                                                   skip   unsupported
//   stage no_reference                                                  error  no_reference
//   a warning says that the op fell back to the CPU                     untrusted  cpu_fallback
//   the inputs differ from the golden's                                 error  golden_input_differs
//   nothing was compared                                                error  no_output
//   an input on which the output does not depend                        untrusted  inert_input
//   a half policy, and no operator of the program gave that dtype        untrusted  policy_not_observed  (amp: the operator itself)
//   a training run without a golden                                     untrusted  golden_missing
//   all zeros would pass in every output                                untrusted  zeros_would_pass
//   the stored fp64 sample is over 0.01 unit from the local reference    untrusted  reference_disagrees
//   golden required or spread over the limit (and over the loose one)   untrusted  golden_over_limit
//   !(required <= limit), or !(direct <= limit + golden required)       fail   over_limit, nonfinite, golden_distance
//   a metric of a model, forward, beyond the profile's limit             fail   (reason: the metric)
//   the held-out loss of a training run is outside its margin          fail   unfit
//   no golden for a canonical case                                      untrusted  golden_missing
//   otherwise                                                           pass
// A number that was not measured (NaN) is not within any limit. An exact output (integers, indices) beside outputs of another bound
// has the limit 0, and integers need no stored fp64 sample.
// A twin is compared with the device's own plain call: no golden is needed, and in half policies the loose limit holds.
// Determinism is judged beside it, of canonical cases and of the twin `repeat`: `repeat` must be bitwise, or within the limit where the spec allows atomics.
#include <optional>
#include <string>
#include <vector>

#include "evidence/evidence.hpp"
#include "judge/tolerance.hpp"

namespace driftgate {

enum class State : std::uint8_t { pass, approved, fail, skip, untrusted, error };
std::string_view name(State state);

// What a training run says beside its state. Two questions: does it go where the golden's runs go (fidelity), and does it end as well (fitness)?
struct TrainingVerdict {
  std::string fidelity;                             // fp32-faithful (or another policy), tf32-class, half-class, none
  std::string output;                               // the first one that leaves the ensemble, and at which step; -1: none does
  std::int64_t first_step = -1;
  double change = kAbsent, margin = kAbsent;        // of the held-out loss, relative to the ensemble's mean
  double loss_gap = kAbsent;                        // largest relative distance of the loss from the golden's own run; 0: equal in bits
  bool faithful() const { return first_step < 0; }
  bool fit() const { return change <= margin; }
};

struct Judgement {
  std::string id;
  std::string family;
  Policy policy = Policy::fp32;
  Direction direction = Direction::forward;
  SuiteTier tier = SuiteTier::standard;
  SuiteLevel level = SuiteLevel::op;
  State state = State::error;
  std::string reason;
  const ToleranceRow* row = nullptr;
  double required = kAbsent, limit = kAbsent;       // of the worst output, strict units
  double golden_required = kAbsent;
  double ratio = kAbsent;                           // candidate's RMS error over the golden's, worst output
  std::string output;                               // the worst output's name
  Tier asked = Tier::strict, reached = Tier::strict;
  bool blunt = false;                               // judged by a blunt row, or only the loose tier reached: no evidence for training
  bool tf32_class = false;                          // fails as an fp32 result, and its error is that of the golden's tf32 pass
  std::optional<TrainingVerdict> training;          // of bound ensemble, where it was compared
  bool repeats = true;                              // the case looks for determinism: canonical ones and the twin `repeat`
  State repeat = State::pass;                       // determinism; skip when there was nothing to repeat
  std::string repro;                                // the command that repeats it
};

struct Counts {
  std::int64_t planned = 0, executed = 0, pass = 0, approved = 0, fail = 0, skip = 0, untrusted = 0, error = 0;
};

struct JudgedRun {
  RunInfo run;
  std::vector<Judgement> judgements;                // one a planned case: a case without a line is error `not_executed`
  Counts counts;
};

JudgedRun judge(const Evidence& evidence, const Suite& suite, const ToleranceTable& table);
Judgement judge_case(const CaseRecord& record, const Case& c, const ToleranceRow& row);
// required / limit, where 0 / 0 is 0 and NaN counts as infinity.
double limit_share(double required, double limit);
// Fails first by required/limit, then untrusted and errors: the order in which reports list them.
std::vector<const Judgement*> deviations(const JudgedRun& run);

}  // namespace driftgate
