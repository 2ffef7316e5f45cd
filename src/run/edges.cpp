#include "run/edges.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "error.hpp"
#include "judge/judgement.hpp"

namespace driftgate {
namespace {

void replace(Shape& shape, std::int64_t from, std::int64_t to) { std::replace(shape.begin(), shape.end(), from, to); }

void replace(Json& value, std::int64_t from, std::int64_t to) {
  if (value.is_array())
    for (Json& item : value) replace(item, from, to);
  else if (value.is_number_integer() && value.get<std::int64_t>() == from)
    value = to;
}

ArgumentSet resized(const ArgumentSet& set, std::int64_t from, std::int64_t to) {
  ArgumentSet made = set;
  for (auto& [name, argument] : made.arguments) {
    if (auto* tensor = std::get_if<TensorArgument>(&argument)) replace(tensor->shape, from, to);
    else if (auto* list = std::get_if<std::vector<TensorArgument>>(&argument))
      for (TensorArgument& item : *list) replace(item.shape, from, to);
    else replace(std::get<Json>(argument), from, to);
  }
  return made;
}

// Extent -> the dims that have it.
std::map<std::int64_t, std::vector<std::string>> extents_of(const ArgumentSet& set) {
  std::map<std::int64_t, std::vector<std::string>> extents;
  for (const auto& [name, argument] : set.arguments) {
    const auto* tensor = std::get_if<TensorArgument>(&argument);
    if (!tensor) continue;
    for (std::size_t d = 0; d < tensor->shape.size(); ++d)
      if (tensor->shape[d] > 1) extents[tensor->shape[d]].push_back(fmt::format("{} dim {}", name, d));
  }
  return extents;
}

Trial attempt(const Case& c, const ToleranceRow& row, Runner& runner) {
  try {
    const CaseRecord record = runner.run(c);
    if (record.stage == "no_reference") return Trial::invalid;
    // Without a golden, numbers within the limit are untrusted, not a pass.
    return judge_case(record, c, row).state == State::fail ? Trial::wrong : Trial::right;
  } catch (const Error&) {
    return Trial::invalid;
  }
}

}  // namespace

std::optional<Edge> bisect(std::int64_t wrong_at, const std::function<Trial(std::int64_t)>& attempt) {
  Edge edge;
  edge.extent = edge.wrong_from = wrong_at;
  bool any = false;
  std::int64_t low = 0;                                  // right, or below every valid size
  while (edge.wrong_from - low > 1) {
    // The valid size nearest to the middle, looked for upwards.
    std::int64_t n = low + (edge.wrong_from - low) / 2;
    Trial seen = attempt(n);
    while (seen == Trial::invalid && n + 1 < edge.wrong_from) seen = attempt(++n);
    if (seen == Trial::invalid) {                        // none from the middle on: only the lower half is left
      const std::int64_t middle = low + (edge.wrong_from - low) / 2;
      std::int64_t below = middle - 1;
      while (below > low && (seen = attempt(below)) == Trial::invalid) --below;
      if (seen == Trial::invalid || below <= low) break;
      n = below;
    }
    any = true;
    if (seen == Trial::wrong) {
      edge.wrong_from = n;
    } else {
      edge.right_up_to = n;
      low = n;
    }
  }
  if (!any) return std::nullopt;
  return edge;
}

std::optional<std::vector<Edge>> find_edges(const Case& c, const ToleranceRow& row, Device device, const GoldenSet* golden) {
  const Judgement whole = judge_case(Runner(device, golden).run(c), c, row);
  if (whole.state != State::fail) return std::nullopt;
  ToleranceRow same_tier = row;
  same_tier.tier = whole.asked;
  Runner runner(device, nullptr);
  std::vector<Edge> edges;
  for (const auto& [extent, places] : extents_of(*c.arguments)) {
    auto edge = bisect(extent, [&, from = extent](std::int64_t n) {
      const ArgumentSet arguments = resized(*c.arguments, from, n);
      Case smaller = c;
      smaller.arguments = &arguments;
      return attempt(smaller, same_tier, runner);
    });
    if (!edge) continue;
    edge->where = fmt::format("{}", fmt::join(places, ", "));
    edges.push_back(*edge);
  }
  return edges;
}

std::string to_string(const Edge& edge) {
  if (!edge.right_up_to) return fmt::format("{}: wrong from {} to {}, at every size tried", edge.where, edge.wrong_from, edge.extent);
  return fmt::format("{}: right up to {}, wrong from {}", edge.where, *edge.right_up_to, edge.wrong_from);
}

}  // namespace driftgate
