#include "case/case.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <set>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kCanonical = "canonical";
constexpr std::string_view kTwinCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view kNameCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::string_view kOpCharacters = "abcdefghijklmnopqrstuvwxyz0123456789_ABCDEFGHIJKLMNOPQRSTUVWXYZ.";
constexpr std::size_t kLongestId = 256;                     // no case has a longer one; nothing near it is looked for

std::string join(std::string_view op, std::string_view arguments, Policy policy, Direction direction, std::string_view twin) {
  std::string id;
  id.reserve(op.size() + arguments.size() + twin.size() + 24);
  id.append(op).append(1, '/').append(arguments).append(1, '/').append(name(policy)).append(1, '/');
  id.append(name(direction)).append(1, '/').append(twin);
  return id;
}

bool consists_of(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

template <class Enum>
std::optional<Enum> named(std::string_view text, int count) {
  for (int i = 0; i < count; ++i) {
    if (name(static_cast<Enum>(i)) == text) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

std::optional<CaseId> split_case_id(std::string_view text) {
  std::array<std::string_view, 5> part;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t end = i + 1 < part.size() ? text.find('/') : text.size();
    if (end == std::string_view::npos) return std::nullopt;
    part[i] = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  const auto policy = named<Policy>(part[2], kPolicies);
  const auto direction = named<Direction>(part[3], 2);
  const bool words = consists_of(part[0], kOpCharacters) && consists_of(part[1], kNameCharacters) && consists_of(part[4], kTwinCharacters);
  if (!words || !policy || !direction) return std::nullopt;
  return CaseId{std::string(part[0]), std::string(part[1]), std::string(part[4]), *policy, *direction};
}

template <class T>
bool contains(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

template <class T>
bool allows(const std::vector<T>& list, const T& value) {
  return list.empty() || contains(list, value);
}

bool matches_glob(const Filter& filter, const Case& c) {
  if (filter.globs.empty()) return true;
  const std::string id = c.id();
  return std::any_of(filter.globs.begin(), filter.globs.end(), [&](const std::string& glob) {
    return glob_match(glob, glob.find('/') == std::string::npos ? c.op_name() : std::string_view(id));
  });
}

// Levenshtein distance, or any number >= limit when it is not below limit.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) >= limit) return limit;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0], least = row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
      least = std::min(least, row[j + 1]);
    }
    if (least >= limit) return limit;
  }
  return row.back();
}

std::string nearest_id(const Suite& suite, std::string_view text) {
  std::string nearest;
  std::size_t least = text.size() <= kLongestId ? kLongestId : 0;
  const bool whole = std::count(text.begin(), text.end(), '/') == 4;          // else the twin is not named, and canonical meant
  suite.for_each(whole ? Filter{} : Filter::canonical(), [&](const Case& c) {
    std::string id = c.id();
    const std::size_t distance = edit_distance(id, text, least);
    if (distance >= least) return;
    least = distance;
    nearest = std::move(id);
  });
  return nearest;
}

// "aten::softmax.int" -> "softmax.int", "model::mlp" -> "model.mlp"
std::vector<std::string> id_names(const Row& row) {
  std::vector<std::string> names;
  for (const std::string& op : row.ops) {
    const std::string bare = op.substr(op.find("::") + 2);
    names.push_back(row.level() == SuiteLevel::op ? bare : fmt::format("{}.{}", name(row.level()), bare));
  }
  return names;
}

// The argument sets whose twins belong to the standard tier: the first of two dims or more and the first of four, for each row.
// The twin `poisoned` of every set does: what is read past an operand depends on its size.
std::set<const ArgumentSet*> standard_twins(const Row& row) {
  const ArgumentSet *plane = nullptr, *images = nullptr;
  for (const ArgumentSet& set : row.cases) {
    for (const auto& [name, argument] : set.arguments) {
      const auto* tensor = std::get_if<TensorArgument>(&argument);
      if (!tensor || numel(tensor->shape) < 4) continue;
      if (!plane && tensor->shape.size() >= 2) plane = &set;
      if (!images && tensor->shape.size() == 4) images = &set;
    }
  }
  std::set<const ArgumentSet*> sets = {plane ? plane : &row.cases.front()};
  if (images) sets.insert(images);
  return sets;
}

}  // namespace

std::string to_string(const CaseId& id) { return join(id.op, id.arguments, id.policy, id.direction, id.twin); }

CaseId parse_case_id(std::string_view text) {
  if (auto id = split_case_id(text)) return *id;
  throw Error("bad_case_id", fmt::format("'{}'", text), "not the id of a case",
              "op[.overload]/argument_set/policy/direction/twin, such as softmax.int/wide/fp32/forward/canonical");
}

std::string_view Case::op_name() const { return row->names[op]; }

std::string Case::id() const { return join(op_name(), arguments->name, policy, direction, twin ? std::string_view(twin->name) : kCanonical); }

std::string Case::input_key() const {
  const std::string_view op_text = op_name();
  std::string key;
  key.reserve(op_text.size() + 1 + arguments->name.size());
  key.append(op_text).append(1, '/').append(arguments->name);
  return key;
}

bool glob_match(std::string_view pattern, std::string_view text) {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t p = 0, t = 0, star = kNone, retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != kNone) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

Suite Suite::load(const std::filesystem::path& directory) { return Suite(read_specs(directory), read_forms(directory), read_device_limits(directory)); }

Case Suite::Entry::at(Policy policy, Direction direction, const Twin& which) const {
  const SuiteTier due = which.kind == TwinKind::canonical ? canonical : which.kind == TwinKind::poisoned ? arguments->tier : twin;
  return {row, arguments, op, policy, direction, &which, due};
}

bool Suite::limited(const Case& c, std::string_view device) const {
  std::string text;
  return std::any_of(limits_.begin(), limits_.end(), [&](const DeviceLimit& limit) {
    if (limit.device != device) return false;
    if (text.empty()) text = fmt::format("{}/{}/{}", c.input_key(), name(c.direction), c.twin ? c.twin->name : std::string(kCanonical));
    return glob_match(limit.glob, text);
  });
}

Suite::Suite(std::vector<Row> rows, Forms forms, std::vector<DeviceLimit> limits) : rows_(std::move(rows)), limits_(std::move(limits)) {
  for (Row& row : rows_) {
    row.names = id_names(row);
    const std::set<const ArgumentSet*> twinned = standard_twins(row);
    for (std::uint32_t op = 0; op < row.ops.size(); ++op) {
      for (const ArgumentSet& set : row.cases) {
        const std::string key = Case{&row, &set, op}.input_key();
        const auto [known, fresh] = by_input_.emplace(key, entries_.size());
        if (!fresh) {
          throw Error("duplicate_case", row.file, fmt::format("'{}' is already a case of {}", key, entries_[known->second].row->file),
                      "give one of the two argument sets another name");
        }
        const bool smoke = row.smoke && &set == &row.cases.front();
        Entry entry{&row, &set, op, smoke ? SuiteTier::smoke : set.tier, std::max(set.tier, twinned.count(&set) ? SuiteTier::standard : SuiteTier::full), {}, {}};
        const std::vector<std::string>& roads = forms[key];
        for (const Direction direction : row.directions) {
          std::vector<Twin>& twins = direction == Direction::forward ? entry.forward : entry.backward;
          twins = row.level() == SuiteLevel::op ? twins_of(row, row.ops[op], set, direction, roads) : std::vector{Twin{}};
          const std::string prefix = fmt::format("{}/{}/", key, name(direction));
          twins.erase(std::remove_if(twins.begin(), twins.end(), [&](const Twin& twin) {
            return twin.kind != TwinKind::canonical && std::any_of(row.no_twins.begin(), row.no_twins.end(), [&](const std::string& glob) { return glob_match(glob, prefix + twin.name); });
          }), twins.end());
        }
        entries_.push_back(std::move(entry));
      }
    }
  }
}

void Suite::for_each(const Filter& filter, const std::function<void(const Case&)>& visit) const {
  if (filter.shard < 0 || filter.shard >= filter.shards) {
    throw Error("bad_shard", fmt::format("shard {}/{}", filter.shard, filter.shards), "a shard is one of 0 .. shards - 1");
  }
  std::int64_t position = 0;
  const auto offer = [&](const Case& c) {
    if (c.tier > filter.tier || (filter.canonical_only && !c.canonical()) || !matches_glob(filter, c)) return;
    if (position++ % filter.shards == filter.shard) visit(c);
  };
  for (const Entry& entry : entries_) {
    if (!allows(filter.families, entry.row->family) || !allows(filter.levels, entry.row->level())) continue;
    for (const Policy policy : entry.arguments->policies) {
      if (!allows(filter.policies, policy)) continue;
      for (const Direction direction : entry.row->directions) {
        for (const Twin& twin : entry.twins(direction))
          if (has_road(policy, twin.kind)) offer(entry.at(policy, direction, twin));
      }
    }
  }
}

std::vector<Case> Suite::select(const Filter& filter) const {
  std::vector<Case> cases;
  for_each(filter, [&](const Case& c) { cases.push_back(c); });
  return cases;
}

Case Suite::find(std::string_view id) const {
  if (const std::optional<CaseId> wanted = split_case_id(id)) {
    const auto found = by_input_.find(wanted->op + "/" + wanted->arguments);
    if (found != by_input_.end()) {
      const Entry& entry = entries_[found->second];
      const std::vector<Twin>& twins = entry.twins(wanted->direction);
      const auto twin = std::find_if(twins.begin(), twins.end(), [&](const Twin& t) { return t.name == wanted->twin; });
      if (twin != twins.end() && contains(entry.arguments->policies, wanted->policy) && has_road(wanted->policy, twin->kind)) return entry.at(wanted->policy, wanted->direction, *twin);
    }
  }
  const std::string nearest = nearest_id(*this, id);
  throw Error("unknown_case", fmt::format("'{}'", id), "no such case in the suite",
              nearest.empty() ? "" : fmt::format("did you mean '{}'?", nearest));
}

}  // namespace driftgate
