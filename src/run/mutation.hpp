#pragma once
// The table's own test: known faults, put into good outputs of every case of a row, must be rejected by the row's limit.
//
// A good output is the reference rounded once to the policy's dtype; that the row accepts it is checked first. A mutant that changes no
// bit is not applicable. The next lower precision is tf32-rounded inputs for fp32 rows and two lost bits of the output for half rows; for
// programs under half policies it is inputs rounded to bf16 (fp16) or to 4 bits (bf16). A
// row that rejects it in less than nine of ten applicable cases is blunt.
#include <functional>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "judge/tolerance.hpp"

namespace driftgate {

struct RowMutation {
  std::string row, families;
  std::int64_t cases = 0, applied = 0, rejected = 0;
  std::int64_t lower_applied = 0, lower_rejected = 0;   // the next lower precision alone
  std::vector<std::string> survivors;                   // "<mutant> <case id>"
  double kill_rate() const { return applied == 0 ? 0 : static_cast<double>(rejected) / static_cast<double>(applied); }
  bool blunt() const { return !(static_cast<double>(lower_rejected) >= 0.9 * static_cast<double>(lower_applied)); }
};

using MutationProgress = std::function<void(std::size_t done, std::size_t total)>;

// In the order of the table; rows without a case are left out. Error `good_rejected` when a row rejects a good output.
std::vector<RowMutation> mutate_rows(const std::vector<Case>& cases, const ToleranceTable& table, const MutationProgress& progress);

}  // namespace driftgate
