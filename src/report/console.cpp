#include "report/console.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace driftgate {
namespace {

std::string counts_line(const Counts& n) {
  return fmt::format("{} planned · {} executed · {} pass · {} approved · {} fail · {} skip · {} untrusted · {} error\n",
                     grouped(n.planned), grouped(n.executed), grouped(n.pass), grouped(n.approved), grouped(n.fail),
                     grouped(n.skip), grouped(n.untrusted), grouped(n.error));
}

bool anything_executed(const Decision& decision) {
  return std::any_of(decision.legs.begin(), decision.legs.end(),
                     [](const auto& leg) { return leg.first != "gate" && leg.second.counts.executed > 0; });
}

std::string decision_lines(const Decision& decision) {
  const auto line = [](std::string_view first, std::string_view second, const std::string& text) {
    return text.empty() ? "" : fmt::format("  {:<10} {:<14} {}\n", first, second, text);
  };
  const std::string out = line(name(decision.policy), name(decision.level), printable(decision.why));
  if (!anything_executed(decision)) return out;
  return out + line("", "weakest", describe_weakest(decision)) + line("", "legs", describe_legs(decision)) +
         line("", "fidelity", printable(decision.fidelity)) + line("", "fitness", printable(decision.fitness)) + line("", "demand", printable(decision.demand)) +
         line("", "to raise it", describe_raise(decision));
}

std::string table(const std::string& title, const std::string& device, const std::vector<const Judgement*>& judgements) {
  if (judgements.empty()) return "";
  const std::size_t shown = std::min(judgements.size(), kListed);
  std::size_t width = 4;
  for (std::size_t i = 0; i < shown; ++i) width = std::max(width, judgements[i]->id.size());
  const auto line = [&](const std::string& required, const std::string& ratio, const std::string& id, const std::string& why) {
    return fmt::format("  {:<20} {:<14} {:<{}}  {}\n", required, ratio, id, width, why);
  };
  std::string out = title + "\n" + line("required / limit", printable(device) + " : golden", "case", "why the limit");
  for (std::size_t i = 0; i < shown; ++i) {
    const Judgement& judgement = *judgements[i];
    out += line(fmt::format("{} / {}", scientific(judgement.required), scientific(judgement.limit)), times(judgement.ratio),
                printable(judgement.id), judgement.row == nullptr ? "" : printable(judgement.row->why));
    out += fmt::format("    {}    repeat: {}    next: {}\n", describe(judgement), printable(judgement.repro),
                       explain_command(judgement));
  }
  if (judgements.size() > shown)
    out += fmt::format("  and {} more\n", grouped(static_cast<std::int64_t>(judgements.size() - shown)));
  return out;
}

}  // namespace

std::string to_console(const Report& report) {
  const Summary summary = summarize(report.run);
  std::string out = headline(report) + "\n" + counts_line(report.run.counts);
  for (const Decision& decision : report.decisions) out += decision_lines(decision);
  for (const std::string& note : notes(report)) out += note + "\n";
  out += table("worst deviations", report.run.run.device, summary.failures);
  out += table("not repeatable", report.run.run.device, summary.unrepeatable);
  return out;
}

}  // namespace driftgate
