#include <fmt/format.h>
#include <iterator>
#include <unordered_set>

#include "error.hpp"
#include "evidence/evidence.hpp"

namespace driftgate {
namespace {

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

}  // namespace

Evidence merge(std::vector<Evidence> parts) {
  if (parts.empty()) throw Error("bad_evidence", "merge", "no evidence to join");
  std::unordered_set<std::string> planned;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string where = fmt::format("part {} of {}", i + 1, parts.size());
    const std::string differs = difference(parts.front().run, parts[i].run);
    if (!differs.empty()) throw Error("mixed_evidence", where, differs, "judge the two on their own, or compare them");
    for (const std::string& id : parts[i].run.plan) {
      if (!planned.insert(id).second)
        throw Error("mixed_evidence", where, fmt::format("'{}' is planned by another part too", id));
    }
  }

  Evidence joined = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    append(joined.run.plan, parts[i].run.plan);
    append(joined.cases, parts[i].cases);
    joined.run.finished = joined.run.finished && parts[i].run.finished;
    joined.torn_line = joined.torn_line || parts[i].torn_line;
  }
  joined.run.planned = static_cast<std::int64_t>(joined.run.plan.size());
  joined.run.plan_digest = plan_digest(joined.run.plan);
  return joined;
}

}  // namespace driftgate
