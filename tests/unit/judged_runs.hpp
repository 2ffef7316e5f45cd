#pragma once
// A small suite and a run of it in which everything passes, for tests that then break one thing.
#include <string>
#include <vector>

#include "judge/decision.hpp"

namespace driftgate {

// Two families of one op each, ten argument sets, both directions, in fp32 and fp16: 80 canonical cases.
inline Suite report_suite() {
  std::vector<Row> rows;
  for (const char* family : {"softmax", "sort"}) {
    Row row;
    row.family = family;
    row.no_twins = {"*"};
    row.ops = {std::string("aten::") + family};
    row.directions = {Direction::forward, Direction::backward};
    for (const char digit : std::string("0123456789")) {
      ArgumentSet set;
      set.name = std::string("a") + digit;
      set.policies = {Policy::fp32, Policy::fp16};
      row.cases.push_back(std::move(set));
    }
    rows.push_back(std::move(row));
  }
  return Suite(std::move(rows));
}

inline const ToleranceRow& small_row() {
  static const ToleranceRow row = [] {
    ToleranceRow made;
    made.name = "all";
    made.limit = 4;
    made.why = "one rounding";
    return made;
  }();
  return row;
}

inline void recount(JudgedRun& run) {
  Counts n;
  for (const Judgement& judgement : run.judgements) {
    ++n.planned;
    n.executed += judgement.state != State::skip && judgement.reason != "not_executed" ? 1 : 0;
    n.pass += judgement.state == State::pass ? 1 : 0;
    n.approved += judgement.state == State::approved ? 1 : 0;
    n.fail += judgement.state == State::fail ? 1 : 0;
    n.skip += judgement.state == State::skip ? 1 : 0;
    n.untrusted += judgement.state == State::untrusted ? 1 : 0;
    n.error += judgement.state == State::error ? 1 : 0;
  }
  run.counts = n;
}

inline JudgedRun green_run(const Suite& suite) {
  JudgedRun run;
  run.run.device = "mps";
  run.run.tool_version = "0.1";
  run.run.golden = "h200_cu130_torch2.11.0";
  run.run.environment = Json::parse(R"({"torch": "2.13.0", "host": {"chip": "Apple M4", "macos": "26.1", "macos_build": "25B78"},
    "gate": {"available": true, "checks": [{"name": "macos", "ok": true, "detail": "26.1"}]}})");
  suite.for_each({}, [&](const Case& c) {
    Judgement judgement;
    judgement.id = c.id();
    judgement.family = c.row->family;
    judgement.policy = c.policy;
    judgement.direction = c.direction;
    judgement.level = c.level();
    judgement.state = State::pass;
    judgement.row = &small_row();
    judgement.required = 1;
    judgement.limit = 4;
    judgement.golden_required = 0.5;
    judgement.ratio = 1.4;
    judgement.repro = "driftgate run --device mps '" + judgement.id + "'";
    run.judgements.push_back(std::move(judgement));
  });
  recount(run);
  return run;
}

// Sets the state of the first n cases of a policy and direction.
inline void set_first(JudgedRun& run, std::size_t n, Policy policy, Direction direction, State state, const std::string& reason) {
  for (Judgement& judgement : run.judgements) {
    if (n == 0 || judgement.policy != policy || judgement.direction != direction) continue;
    judgement.state = state;
    judgement.reason = reason;
    --n;
  }
  recount(run);
}

}  // namespace driftgate
