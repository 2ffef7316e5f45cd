#include "report/json.hpp"

namespace driftgate {
namespace {

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json to_json(const Counts& n) {
  return Json{{"planned", n.planned}, {"executed", n.executed}, {"pass", n.pass},           {"approved", n.approved},
              {"fail", n.fail},       {"skip", n.skip},         {"untrusted", n.untrusted}, {"error", n.error}};
}

Json to_json(const Judgement& judgement) {
  return Json{{"id", judgement.id},
              {"state", name(judgement.state)},
              {"reason", judgement.reason},
              {"row", text_or_null(judgement.row == nullptr ? "" : judgement.row->name)},
              {"required", number(judgement.required)},
              {"limit", number(judgement.limit)},
              {"golden_required", number(judgement.golden_required)},
              {"ratio", number(judgement.ratio)},
              {"output", text_or_null(judgement.output)},
              {"tf32_class", judgement.tf32_class},
              {"repeatable", judgement.repeat != State::fail},
              {"repro", judgement.repro}};
}

Json to_json(const Decision& decision) {
  Json legs = Json::object();
  for (const auto& [leg, found] : decision.legs)
    legs[leg] = Json{{"state", found.state}, {"why", found.why}, {"counts", to_json(found.counts)}, {"sharp", found.sharp}};
  return Json{{"level", name(decision.level)},
              {"open", name(decision.open)},
              {"why", decision.why},
              {"weakest", text_or_null(decision.weakest)},
              {"weakest_share", number(decision.weakest_share)},
              {"weakest_ratio", number(decision.weakest_ratio)},
              {"legs", std::move(legs)},
              {"missing", decision.missing},
              {"fidelity", decision.fidelity},
              {"fitness", decision.fitness},
              {"demand", decision.demand},
              {"raise", decision.raise}};
}

void add_run(Json& out, const Report& report) {
  out["tool_version"] = report.run.run.tool_version;
  out["device"] = report.run.run.device;
  out["golden"] = text_or_null(report.run.run.golden);
  out["sound"] = is_sound(report.run);
}

void add_judgements(Json& out, const Report& report) {
  const Summary summary = summarize(report.run);
  out["counts"] = to_json(report.run.counts);
  Json& reasons = out["reasons"] = Json::object();
  for (const auto& [state, of_state] : summary.reasons)
    for (const auto& [reason, n] : of_state) reasons[std::string(name(state))][reason] = n;
  out["tf32"] = Json{{"fp32_fails", summary.fp32_fails}, {"tf32_class", summary.tf32_class}};
  Json& tiers = out["tiers"] = Json::object();
  for (const auto& [policy, n] : summary.tiers)
    tiers[std::string(name(policy))] = Json{{"strict", n.strict}, {"loose", n.loose}, {"golden_no_better", n.golden_no_better}};
  Json& listed = out["deviations"] = Json::array();
  for (const Judgement* judgement : deviations(report.run)) listed.push_back(to_json(*judgement));
  Json& unrepeatable = out["unrepeatable"] = Json::array();
  for (const Judgement* judgement : summary.unrepeatable) unrepeatable.push_back(judgement->id);
}

void add_decisions(Json& out, const Report& report) {
  Json& decisions = out["decisions"] = Json::object();
  for (const Decision& decision : report.decisions) decisions[std::string(name(decision.policy))] = to_json(decision);
}

std::string dump(const Json& object) { return object.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string to_judge_json(const Report& report) {
  Json out{{"schema", "driftgate.judge/1"}};
  add_run(out, report);
  add_judgements(out, report);
  return dump(out);
}

std::string to_decide_json(const Report& report) {
  Json out{{"schema", "driftgate.decide/1"}};
  add_run(out, report);
  add_decisions(out, report);
  return dump(out);
}

std::string to_json(const Report& report) {
  Json out{{"schema", "driftgate.report/1"}};
  add_run(out, report);
  out["environment"] = report.run.run.environment;
  add_judgements(out, report);
  add_decisions(out, report);
  return dump(out);
}

}  // namespace driftgate
