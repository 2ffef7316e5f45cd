#include "report/markdown.hpp"

#include <fmt/format.h>

namespace driftgate {
namespace {

// Text that stays text in a cell of a GitHub table: no HTML, no markup, no new cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : escaped(text)) {
    if (std::string_view("|\\`*[]~").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string row(const std::vector<std::string>& cells) { return fmt::format("| {} |\n", fmt::join(cells, " | ")); }

std::string head(const std::vector<std::string>& titles) {
  return row(titles) + row(std::vector<std::string>(titles.size(), "---"));
}

std::string counts_table(const Counts& n) {
  std::vector<std::string> numbers;
  for (const std::int64_t value : {n.planned, n.executed, n.pass, n.approved, n.fail, n.skip, n.untrusted, n.error})
    numbers.push_back(grouped(value));
  return head({"planned", "executed", "pass", "approved", "fail", "skip", "untrusted", "error"}) + row(numbers);
}

std::string decisions_table(const std::vector<Decision>& decisions) {
  std::string out = "\n## Decisions\n\n" + head({"policy", "level", "why", "weakest link", "legs", "to raise it"});
  for (const Decision& decision : decisions)
    out += row({std::string(name(decision.policy)), fmt::format("**{}**", name(decision.level)), cell(decision.why),
                cell(describe_weakest(decision)), cell(describe_legs(decision)), cell(describe_raise(decision))});
  return out;
}

std::string deviations_table(const std::string& title, const std::string& device,
                             const std::vector<const Judgement*>& judgements) {
  if (judgements.empty()) return "";
  std::string out = "\n## " + title + "\n\n" +
                    head({"required", "limit", cell(device) + " : golden", "case", "reason", "why the limit", "repeat", "next"});
  for (std::size_t i = 0; i < judgements.size() && i < kListed; ++i) {
    const Judgement& judgement = *judgements[i];
    out += row({scientific(judgement.required), scientific(judgement.limit), times(judgement.ratio), cell(judgement.id),
                cell(describe(judgement)), cell(judgement.row == nullptr ? "" : judgement.row->why), cell(judgement.repro),
                cell(explain_command(judgement))});
  }
  if (judgements.size() > kListed)
    out += fmt::format("\nand {} more\n", grouped(static_cast<std::int64_t>(judgements.size() - kListed)));
  return out;
}

}  // namespace

std::string to_markdown(const Report& report) {
  const Summary summary = summarize(report.run);
  const std::string& device = report.run.run.device;
  std::string out =
      fmt::format("# driftgate on {}\n\n{}\n\n", cell(device), cell(headline(report))) + counts_table(report.run.counts);
  if (!report.decisions.empty()) out += decisions_table(report.decisions);
  const std::vector<std::string> lines = notes(report);
  if (!lines.empty()) out += "\n";
  for (const std::string& note : lines) out += "- " + cell(note) + "\n";
  out += deviations_table("Worst deviations", device, summary.failures);
  return out + deviations_table("Not repeatable", device, summary.unrepeatable);
}

}  // namespace driftgate
