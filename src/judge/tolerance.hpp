#pragma once
// The tolerance table: tolerances/*.json (but decision.json and profiles.json). Schema: docs/schema/tolerances.schema.json.
//
//   {"schema": "driftgate.tolerances/1", "rows": [
//     {"row": "softmax.fp32", "match": {"families": ["softmax"], "policies": ["fp32"]}, "limit": 64,
//      "why": "exp and a sum in fp32, in any order",
//      "measured": {"cpu_avx2": 5.1, "h200": 7.4}, "witness": "softmax.int/wide/fp32/forward/canonical",
//      "kill_rate": 0.99, "blunt": false}]}
//
// A row is one number: `limit` for `required`. Half policies have two tiers: `limit` is the strict one (fp32 arithmetic, one
// rounding), `loose_limit` the multiplier when intermediates are half too, in units scaled by u_out/u (2^13 for fp16, 2^16 for
// bf16). Training rows also have a `margin`: the practical one, on the loss of held-out data. `tier` says which of the two the row asks; a golden that itself reaches only the loose tier lowers a strict row to it.
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "judge/model_profile.hpp"

namespace driftgate {

enum class Tier : std::uint8_t { strict, loose };
std::string_view name(Tier tier);

struct RowMatch {                                                            // empty lists match everything
  std::vector<std::string> families, ops, arguments;                         // ops and arguments: globs ("softmax.*")
  std::vector<Policy> policies;
  std::vector<Direction> directions;
  std::vector<Bound> bounds;
  std::vector<std::string> cases;                                            // globs of "op/argument set"
  std::vector<std::string> not_ops, not_cases;                               // globs of what has a row of its own
};

struct ToleranceRow {
  std::string name;
  RowMatch match;
  double limit = 0;
  Tier tier = Tier::strict;
  double loose_limit = 16;
  double margin = -1;                                                        // of training: how far the held-out loss may be, relative; -1: none given
  std::string why;
  std::map<std::string, double> measured;                                    // largest required, by device
  std::string witness;                                                       // the case that needed it
  double kill_rate = -1;                                                     // from `driftgate mutants`; -1: not measured
  bool blunt = false;                                                        // cannot reject the next lower precision
  std::string file;
  std::shared_ptr<const ModelProfile> profile;                               // how strictly models are judged; null: by the limit alone

  bool matches(const Case& c) const;
  // The limit on `required` at a tier, in strict units.
  double limit_at(Tier tier, Policy policy) const;
};

// Whether a file of the tolerances' directory holds rows: every *.json but the decision's rules and the profiles.
bool holds_rows(const std::filesystem::path& file);

class ToleranceTable {
 public:
  // profile: of profiles.json, where the directory has one.
  static ToleranceTable load(const std::filesystem::path& directory, const std::string& profile = "standard");
  explicit ToleranceTable(std::vector<ToleranceRow> rows);                   // Error `duplicate_row` for two rows of one name
  // The one row of a case. Error `no_row`, or `two_rows` naming both.
  const ToleranceRow& row_for(const Case& c) const;
  const std::vector<ToleranceRow>& rows() const { return rows_; }

 private:
  std::vector<ToleranceRow> rows_;
};

}  // namespace driftgate
