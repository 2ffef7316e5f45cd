#include "judge/judgement.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <unordered_map>

namespace driftgate {
namespace {

void count(Counts& counts, State state) {
  switch (state) {
    case State::pass:
      ++counts.pass;
      break;
    case State::approved:
      ++counts.approved;
      break;
    case State::fail:
      ++counts.fail;
      break;
    case State::skip:
      ++counts.skip;
      break;
    case State::untrusted:
      ++counts.untrusted;
      break;
    case State::error:
      ++counts.error;
      break;
  }
}

// What stands in for the line of a case that has none.
CaseRecord not_executed(const std::string& id) {
  CaseRecord record;
  record.id = id;
  record.stage = "not_executed";
  return record;
}

}  // namespace

std::string_view name(State state) {
  constexpr std::array<std::string_view, 6> kNames = {"pass", "approved", "fail", "skip", "untrusted", "error"};
  return kNames.at(static_cast<std::size_t>(state));
}

JudgedRun judge(const Evidence& evidence, const Suite& suite, const ToleranceTable& table) {
  std::unordered_map<std::string_view, const CaseRecord*> records;
  for (const CaseRecord& record : evidence.cases) records[record.id] = &record;

  JudgedRun judged;
  judged.run = evidence.run;
  judged.judgements.reserve(evidence.run.plan.size());
  for (const std::string& id : evidence.run.plan) {
    const Case c = suite.find(id);
    const ToleranceRow& row = table.row_for(c);
    const auto found = records.find(id);
    const bool executed = found != records.end();
    Judgement j = executed ? judge_case(*found->second, c, row) : judge_case(not_executed(id), c, row);
    j.repro = fmt::format("driftgate run --device {} '{}'", evidence.run.device, id);
    ++judged.counts.planned;
    judged.counts.executed += executed && j.state != State::skip;
    count(judged.counts, j.state);
    judged.judgements.push_back(std::move(j));
  }
  return judged;
}

std::vector<const Judgement*> deviations(const JudgedRun& run) {
  std::vector<const Judgement*> list;
  for (const Judgement& j : run.judgements) {
    if (j.state == State::fail || j.state == State::untrusted || j.state == State::error) list.push_back(&j);
  }
  std::stable_sort(list.begin(), list.end(), [](const Judgement* a, const Judgement* b) {
    if (a->state != b->state) return a->state < b->state;  // fail, untrusted, error
    return a->state == State::fail && limit_share(a->required, a->limit) > limit_share(b->required, b->limit);
  });
  return list;
}

}  // namespace driftgate
