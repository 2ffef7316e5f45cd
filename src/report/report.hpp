#pragma once
// What every renderer shows, counted once. Renderers lay it out; they judge and decide nothing.
//
// All text that comes from evidence passes `printable` on its way out: a report may be opened in a terminal, a browser or an XML
// parser. Errors are written with three significant digits in scientific notation, an absent number as "-".
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "judge/decision.hpp"

namespace driftgate {

struct Report {
  const JudgedRun& run;
  std::vector<Decision> decisions;  // empty: judged, not decided
};

inline constexpr std::size_t kListed = 10;  // deviations shown; the rest is a number

using ReasonCounts = std::map<std::string, std::int64_t>;

struct TierCounts {  // passes of one half policy
  std::int64_t strict = 0, loose = 0;
  std::int64_t golden_no_better = 0;  // of the loose ones: the golden is over the strict limit as well
};

struct Summary {
  std::map<State, ReasonCounts> reasons;        // of everything but pass
  std::int64_t fp32_fails = 0, tf32_class = 0;  // the second is part of the first
  std::map<Policy, TierCounts> tiers;           // half policies with a pass
  std::vector<const Judgement*> failures;       // fails worst first, then errors
  std::vector<const Judgement*> unrepeatable;   // not fails otherwise, but two runs of them differed
};
Summary summarize(const JudgedRun& run);

// "driftgate 0.1 · torch 2.13.0 · mps (Apple M4, macOS 26.1 25B78) · golden … · 12 planned = 10 executed + 2 skipped (unsupported
// 2)"
std::string headline(const Report& report);
// Sentences about the whole run: what makes it unsound, reasons of fails, skips, untrusted cases and errors, TF32, half tiers.
std::vector<std::string> notes(const Report& report);
std::string reason_of(const Judgement& judgement);  // its reason; "not_repeatable" where only the repeat failed
// "over_limit, row softmax.fp32, golden 1.20e+00"
std::string describe(const Judgement& judgement);
// "ID, 71 % of its limit, 1.4 x the golden's error"; empty where nothing passed
std::string describe_weakest(const Decision& decision);
// "operators.backward fail · models missing · coverage, gate pass"
std::string describe_legs(const Decision& decision);
// What would raise the level, in one line.
std::string describe_raise(const Decision& decision);
std::string explain_command(const Judgement& judgement);

std::string scientific(double value);     // "5.10e+03", "inf", "-" when absent
std::string times(double value);          // a ratio: "1.4", "4.2e+03"
std::string grouped(std::int64_t value);  // "31,204"
// Valid UTF-8 without control characters: each offending byte, and each control character, becomes '?'.
std::string printable(std::string_view text);
// Printable text whose & < > and " are entities, in XML, HTML and Markdown alike.
std::string escaped(std::string_view text);

}  // namespace driftgate
