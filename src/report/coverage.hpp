#pragma once
// How many of the operators that have an MPS kernel the suite calls. docs/coverage.md is generated from it.
//
//   data/coverage_target_2.13.tsv   the base operators (overloads, out= and in-place forms collapsed) with an MPS kernel in torch
//                                   2.13: group, base_op, family, the public call that reaches it. From native_functions.yaml and
//                                   the registrations in the macOS wheel
//   data/coverage_reached.tsv       op, case: the operators that are not public and that a trace on the CPU saw a case of another
//                                   operator call; made by `driftgate coverage --trace`
//   data/coverage_reasons.json      "device_only": operators without a CPU kernel, which only MPS reaches, and the case that takes it
//                                   there; "missing": why an operator has no case
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "case/case.hpp"

namespace driftgate {

enum class Covered : std::uint8_t { called, reached, device_only, missing };

struct CoveredOp {
  std::string group, op, family, reached_from;
  Covered how = Covered::missing;
  std::string by;                                       // a case, but for `missing`
  std::string traced;                                   // the case that the trace names, also where another calls it directly
  std::string reason;                                   // of device_only and missing; empty: there is none, which is a fault
};

struct Coverage {
  std::vector<CoveredOp> ops;                           // in the order of the target
  std::vector<std::string> stale;                       // what the data says and the suite does not: a fault each
  std::int64_t count(Covered how) const;
  std::int64_t covered() const { return static_cast<std::int64_t>(ops.size()) - count(Covered::missing); }
  double share() const;
};

// Any overload, the in-place form and the foreach form of an operator count as a call of it. To be reached through another operator
// counts for those that are not public only: every case reaches `empty`.
Coverage coverage_of(const Suite& suite, const std::filesystem::path& data);
std::string coverage_document(const Coverage& coverage);

}  // namespace driftgate
