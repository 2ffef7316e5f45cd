#pragma once
// Judgements and tolerances/decision.json give one decision a policy. Schema: docs/schema/decision.schema.json.
//
// Rules as data: every level names the legs it needs; every leg what it is made of and the coverage it needs. A leg is
//   pass      executed, nothing failed, enough of it proven (sharp rows, for levels that ask it)
//   fail      something failed
//   missing   nothing of it was run (a later leg, or a policy without cases)
//   unproven  nothing failed, but too little passed: skips, untrusted cases, errors; the gate of a virtual machine
// The decision of a policy is the highest level all of whose legs pass. A failing leg refuses every level that needs it; when the
// lowest level is refused the device is `unusable`. When no level is proven the decision is `inconclusive`. `open` is the highest
// level that nothing refuses: it is above the decision where legs are missing or unproven.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/judgement.hpp"

namespace driftgate {

enum class Level : std::uint8_t { inconclusive, unusable, preprocessing, inference, training };
std::string_view name(Level level);
Level parse_level(std::string_view text, const std::string& where);

struct LegRule {
  std::string name;                                  // gate, operators.forward, operators.backward, determinism, coverage, models.forward, …
  std::string why;
  double least_executed = 0, least_passed = 0;       // shares of the planned cases
  double least_families = 0;                         // coverage: share of the suite's families that passed at least one case.
                                                     // Its counts are of the suite, not of the plan: a filtered run covers little
  std::optional<Policy> under_amp;                   // the policy whose cases fill the leg of amp_fp16 and amp_bf16
};

struct LevelRule {
  Level level = Level::inconclusive;
  std::vector<std::string> legs;
  double least_sharp = 0;                            // share of the passes that sharp rows must carry, in each operators.* leg
  std::string why;
};

// What a user may ask for beside a level: `decide --demand`.
struct DemandRule {
  std::string name;                                  // bitwise_loss
  double margin = 0;                                 // the largest relative gap between the loss curves that meets it
  Level cap = Level::inference;                      // the highest level where it is not met
  std::string why;
};

struct DecisionRules {
  std::vector<LegRule> legs;
  std::vector<LevelRule> levels;                     // highest first
  std::vector<DemandRule> demands;
  static DecisionRules load(const std::filesystem::path& file);
};

struct Leg {
  std::string state;                                 // pass, fail, missing, unproven
  std::string why;
  Counts counts;
  std::int64_t sharp = 0;                            // passes judged by a sharp row at the strict tier
};

struct Decision {
  Policy policy = Policy::fp32;
  Level level = Level::inconclusive;
  Level open = Level::inconclusive;                  // the highest level that nothing refuses
  std::string why;                                   // one sentence: what carries, what refuses
  std::string weakest;                               // id of the passing case nearest its limit
  double weakest_share = 0;                          // required / limit
  double weakest_ratio = kAbsent;                    // its error over the golden's
  std::map<std::string, Leg> legs;
  std::vector<std::string> missing;                  // legs that a higher level would need, missing or unproven
  std::string fidelity, fitness;                     // of the training runs, a sentence each; empty where there is none
  std::string demand;                                // what became of it; empty: none was made
  std::vector<std::string> raise;                    // what would raise the level
};

std::vector<Decision> decide(const JudgedRun& run, const Suite& suite, const DecisionRules& rules);  // one a policy, in their order
// The decision that legs carry, whatever filled them; a leg that is not there is missing.
Decision conclude(Policy policy, std::map<std::string, Leg> legs, const DecisionRules& rules);

// "or run gelu on the CPU: all else earns inference", where the cases of a few operators alone stand between the policy and a higher level;
// else empty. Models and training runs count as they ran: one that failed with the operator on the device still fails.
std::string cpu_exceptions(const Decision& decision, const JudgedRun& run, const Suite& suite, const DecisionRules& rules);

// Caps a decision where the training runs do not meet the demand, or there is none that could. Error `unknown_demand`.
void apply_demand(const std::string& demand, const JudgedRun& run, const DecisionRules& rules, std::vector<Decision>& decisions);

// Planned and executed agree, something was executed, nothing is an error, and the gate could look at the device.
bool is_sound(const JudgedRun& run);

// Exit code of `decide`: 1 when something failed (with a required level: when a failing leg refuses it for any of `decisions`);
// 0 when the run is sound and nothing failed (the level is earned by every one of `decisions`, and there is at least one); else 3.
// A failure is drift in an unsound run too; where the gate could not look, or nothing was executed, nothing is known: 3.
int exit_code(const JudgedRun& run, const std::vector<Decision>& decisions, std::optional<Level> require);

}  // namespace driftgate
