#include "report/report.hpp"

#include <fmt/format.h>

#include "judge/legs.hpp"

namespace driftgate {
namespace {

// The string at a path of keys in the environment, empty when there is none.
std::string fact(const Json& environment, std::initializer_list<const char*> path) {
  const Json* value = &environment;
  for (const char* key : path) {
    if (!value->is_object() || !value->contains(key)) return "";
    value = &value->at(key);
  }
  return value->is_string() ? printable(value->get<std::string>()) : "";
}

std::string device_facts(const Json& environment) {
  std::vector<std::string> facts;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) facts.push_back(text);
  };
  add(fact(environment, {"device_name"}));
  add(fact(environment, {"host", "chip"}));
  const std::string macos = fact(environment, {"host", "macos"});
  if (macos.empty())
    add(fact(environment, {"host", "machine"}));
  else
    add(fmt::format("macOS {} {}", macos, fact(environment, {"host", "macos_build"})));
  return facts.empty() ? "" : fmt::format(" ({})", fmt::join(facts, ", "));
}

std::string list(const ReasonCounts& reasons) {
  std::vector<std::string> words;
  for (const auto& [reason, n] : reasons) words.push_back(printable(reason) + " " + grouped(n));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string soundness(const JudgedRun& run) {
  if (is_sound(run)) return "";
  const Counts& n = run.counts;
  std::vector<std::string> faults;
  if (n.executed == 0) faults.emplace_back("nothing was executed");
  if (n.planned != n.executed + n.skip)
    faults.push_back(
        fmt::format("{} planned, but {} executed + {} skipped", grouped(n.planned), grouped(n.executed), grouped(n.skip)));
  if (n.error > 0) faults.push_back(grouped(n.error) + " errors");
  if (gate_checks(run.run) == nullptr) faults.emplace_back("the gate could not look at the device");
  return fmt::format("the run is not sound: {}", fmt::join(faults, "; "));
}

std::string tf32_note(const Summary& summary) {
  const std::string part = fmt::format("{} of {} failing fp32 cases carry the error of the golden's tf32 pass",
                                       grouped(summary.tf32_class), grouped(summary.fp32_fails));
  if (summary.tf32_class * 2 >= summary.fp32_fails) return "fp32 on this device is TF32-class: " + part;
  return part + " (TF32-class)";
}

}  // namespace

Summary summarize(const JudgedRun& run) {
  Summary summary;
  for (const Judgement& judgement : run.judgements) {
    const bool passed = judgement.state == State::pass || judgement.state == State::approved;
    if (judgement.state != State::pass) ++summary.reasons[judgement.state][judgement.reason];
    if (judgement.state != State::fail && judgement.repeat == State::fail) summary.unrepeatable.push_back(&judgement);
    if (judgement.state == State::fail && judgement.policy == Policy::fp32) {
      ++summary.fp32_fails;
      summary.tf32_class += judgement.tf32_class ? 1 : 0;
    }
    if (!passed || judgement.policy == Policy::fp32) continue;
    TierCounts& tiers = summary.tiers[judgement.policy];
    ++(judgement.reached == Tier::strict ? tiers.strict : tiers.loose);
    const bool golden_over = judgement.row != nullptr && judgement.golden_required > judgement.row->limit;
    tiers.golden_no_better += judgement.reached == Tier::loose && golden_over ? 1 : 0;
  }
  for (const Judgement* judgement : deviations(run))
    if (judgement->state == State::fail || judgement->state == State::error) summary.failures.push_back(judgement);
  return summary;
}

std::string headline(const Report& report) {
  const RunInfo& run = report.run.run;
  const Counts& n = report.run.counts;
  ReasonCounts skips;
  for (const Judgement& judgement : report.run.judgements)
    if (judgement.state == State::skip) ++skips[judgement.reason];
  const std::string torch = fact(run.environment, {"torch"});
  return fmt::format("driftgate {} · torch {} · {}{} · golden {} · {} planned {} {} executed + {} skipped{}",
                     printable(run.tool_version), torch.empty() ? "unknown" : torch, printable(run.device),
                     device_facts(run.environment), run.golden.empty() ? "none" : printable(run.golden), grouped(n.planned),
                     n.planned == n.executed + n.skip ? "=" : "!=", grouped(n.executed), grouped(n.skip),
                     skips.empty() ? "" : " (" + list(skips) + ")");
}

std::vector<std::string> notes(const Report& report) {
  const Summary summary = summarize(report.run);
  std::vector<std::string> lines;
  if (const std::string unsound = soundness(report.run); !unsound.empty()) lines.push_back(unsound);
  if (summary.tf32_class > 0) lines.push_back(tf32_note(summary));
  for (const auto& [policy, tiers] : summary.tiers)
    lines.push_back(fmt::format("{}: {} reached the strict tier, {} the loose one; of those the golden is no better in {}",
                                name(policy), grouped(tiers.strict), grouped(tiers.loose), grouped(tiers.golden_no_better)));
  for (const auto& [state, reasons] : summary.reasons) lines.push_back(fmt::format("{}: {}", name(state), list(reasons)));
  return lines;
}

std::string reason_of(const Judgement& judgement) {
  const bool only_repeat = judgement.state == State::pass && judgement.repeat == State::fail;
  return only_repeat ? "not_repeatable" : printable(judgement.reason);
}

std::string describe(const Judgement& judgement) {
  const std::string row = judgement.row == nullptr ? "" : ", row " + printable(judgement.row->name);
  const auto& training = judgement.training;
  const std::string step = training && !training->faithful() ? fmt::format(", first outside at step {} in {}: {}", training->first_step, printable(training->output), training->fidelity) : "";
  return fmt::format("{}{}, golden {}{}", reason_of(judgement), row, scientific(judgement.golden_required), step);
}

std::string describe_weakest(const Decision& decision) {
  if (decision.weakest.empty()) return "";
  const std::string ratio =
      decision.weakest_ratio >= 0 ? fmt::format(", {} x the golden's error", times(decision.weakest_ratio)) : "";
  return fmt::format("{}, {} % of its limit{}", printable(decision.weakest), times(100 * decision.weakest_share), ratio);
}

std::string describe_legs(const Decision& decision) {
  std::vector<std::string> parts;
  for (const char* state : {"fail", "unproven", "missing", "pass"}) {
    std::vector<std::string> legs;
    for (const auto& [leg, found] : decision.legs)
      if (found.state == state) legs.push_back(printable(leg));
    if (!legs.empty()) parts.push_back(fmt::format("{} {}", fmt::join(legs, ", "), state));
  }
  return fmt::format("{}", fmt::join(parts, " · "));
}

std::string describe_raise(const Decision& decision) { return printable(fmt::format("{}", fmt::join(decision.raise, "; "))); }

std::string explain_command(const Judgement& judgement) { return "driftgate explain " + printable(judgement.id); }

}  // namespace driftgate
