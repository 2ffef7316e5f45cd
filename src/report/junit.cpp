#include "report/junit.hpp"

#include <fmt/format.h>

namespace driftgate {
namespace {

// The element that a test report shows for a judgement; none for a pass. What proves nothing is skipped, never green.
std::string_view element(const Judgement& judgement) {
  if (judgement.state == State::fail || judgement.repeat == State::fail) return "failure";
  if (judgement.state == State::error) return "error";
  return judgement.state == State::skip || judgement.state == State::untrusted ? "skipped" : "";
}

std::string outcome(const Judgement& judgement) {
  const std::string_view kind = element(judgement);
  const std::string what = escaped(fmt::format("{}, required {}, limit {}; repeat: {}", describe(judgement),
                                               scientific(judgement.required), scientific(judgement.limit), judgement.repro));
  if (kind == "skipped") return fmt::format("<skipped message=\"{}: {}\"/>", name(judgement.state), what);
  if (!kind.empty()) return fmt::format("<{} type=\"{}\" message=\"{}\"/>", kind, escaped(reason_of(judgement)), what);
  return judgement.state == State::approved ? fmt::format("<system-out>approved: {}</system-out>", what) : "";
}

}  // namespace

std::string to_junit(const Report& report) {
  std::string cases;
  std::int64_t failures = 0, errors = 0, skipped = 0;
  for (const Judgement& judgement : report.run.judgements) {
    const std::string_view kind = element(judgement);
    failures += kind == "failure" ? 1 : 0;
    errors += kind == "error" ? 1 : 0;
    skipped += kind == "skipped" ? 1 : 0;
    cases += fmt::format("    <testcase classname=\"driftgate.{}.{}\" name=\"{}\">{}</testcase>\n", escaped(judgement.family),
                         name(judgement.policy), escaped(judgement.id), outcome(judgement));
  }
  const std::string totals = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"",
                                         report.run.judgements.size(), failures, errors, skipped);
  std::string properties = fmt::format("      <property name=\"run\" value=\"{}\"/>\n", escaped(headline(report)));
  for (const Decision& decision : report.decisions)
    properties += fmt::format("      <property name=\"decision.{}\" value=\"{}: {}\"/>\n", name(decision.policy),
                              name(decision.level), escaped(decision.why));
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"driftgate\" {}>\n  <testsuite name=\"driftgate.{}\" {}>\n"
      "    <properties>\n{}    </properties>\n{}  </testsuite>\n</testsuites>\n",
      totals, escaped(report.run.run.device), totals, properties, cases);
}

}  // namespace driftgate
