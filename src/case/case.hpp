#pragma once
// A case: one op, one argument set, one policy, one direction, one twin. A value whose id parses back.
//
//   softmax.int/wide/fp32/forward/canonical        op[.overload] / argument set / policy / direction / twin
//   model.mlp/train/fp32/backward/canonical        a program: its level and its name stand for the op
//
// The canonical twin is the plain call; the others are listed in twin.hpp. Ids use [A-Za-z0-9_./] only: '-' would split a GoogleTest filter, and such a run would pass with nothing run.
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "case/spec.hpp"
#include "case/twin.hpp"

namespace driftgate {

struct CaseId {
  std::string op, arguments, twin = "canonical";                             // op without "aten::"
  Policy policy = Policy::fp32;
  Direction direction = Direction::forward;
  bool operator==(const CaseId&) const = default;
};
std::string to_string(const CaseId& id);
CaseId parse_case_id(std::string_view text);                                 // Error `bad_case_id`

// The case itself: a cheap value that points into the suite that made it.
struct Case {
  const Row* row = nullptr;
  const ArgumentSet* arguments = nullptr;
  std::uint32_t op = 0;                                                      // index into row->ops
  Policy policy = Policy::fp32;
  Direction direction = Direction::forward;
  const Twin* twin = nullptr;                                                // nullptr: canonical
  SuiteTier tier = SuiteTier::standard;

  bool canonical() const { return twin == nullptr || twin->kind == TwinKind::canonical; }
  std::string_view op_name() const;                                          // "softmax.int", "model.mlp"
  std::string id() const;
  std::string input_key() const;                                             // "softmax.int/wide": the inputs depend on nothing else
  SuiteLevel level() const { return row->level(); }
  Bound bound() const { return row->bound(direction); }
  // Its outputs are compared with a reference and a golden: all but cases that raise and statistical ones.
  bool compared() const { return !arguments->raises && !arguments->law; }
};

// Which cases a command works on. Empty lists mean all. A glob ('*', '?') is matched against the whole id, or, without '/',
// against the op.
struct Filter {
  std::vector<std::string> globs, families;
  std::vector<Policy> policies;
  std::vector<SuiteLevel> levels;
  SuiteTier tier = SuiteTier::standard;                                      // this one and the smaller ones
  bool canonical_only = false;
  static Filter canonical() {
    Filter filter;
    filter.canonical_only = true;
    return filter;
  }
  int shard = 0, shards = 1;                                                 // every shards-th case, by position
};
bool glob_match(std::string_view pattern, std::string_view text);

class Suite {
 public:
  // Reads the specs and checks that ids are unique (Error `duplicate_case`).
  static Suite load(const std::filesystem::path& directory);
  explicit Suite(std::vector<Row> rows, Forms forms = {}, std::vector<DeviceLimit> limits = {});
  Suite(Suite&&) = default;                                                  // its cases point into it: movable, not copyable
  Suite& operator=(Suite&&) = default;

  void for_each(const Filter& filter, const std::function<void(const Case&)>& visit) const;
  std::vector<Case> select(const Filter& filter) const;
  Case find(std::string_view id) const;                                      // Error `unknown_case`, with the nearest id
  bool limited(const Case& c, std::string_view device) const;                // that device is known not to take it
  const std::vector<Row>& rows() const { return rows_; }

 private:
  // One op with one argument set: what is the same for its policies.
  struct Entry {
    const Row* row;
    const ArgumentSet* arguments;
    std::uint32_t op;
    SuiteTier canonical, twin;
    std::vector<Twin> forward, backward;
    const std::vector<Twin>& twins(Direction direction) const { return direction == Direction::forward ? forward : backward; }
    Case at(Policy policy, Direction direction, const Twin& twin) const;
  };
  std::vector<Row> rows_;
  std::vector<DeviceLimit> limits_;
  std::vector<Entry> entries_;                                               // in the order of the files
  std::unordered_map<std::string, std::size_t> by_input_;                    // input_key -> entry
};

}  // namespace driftgate
