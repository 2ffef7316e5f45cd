#include <fmt/format.h>
#include <unordered_map>

#include "error.hpp"
#include "evidence/evidence.hpp"

namespace driftgate {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;  // of cases.jsonl: some million cases

using Positions = std::unordered_map<std::string_view, std::size_t>;  // id -> position in the plan

RunInfo read_run(const std::filesystem::path& file) {
  const std::string where = file.string();
  const Json document = read_json(file);
  ObjectReader in(document, where);
  if (const std::string schema = in.string("schema"); schema != kEvidenceSchema) {
    throw Error("other_schema", where, fmt::format("schema '{}', expected '{}'", schema, kEvidenceSchema),
                "read it with the driftgate that wrote it");
  }
  RunInfo run;
  run.device = in.string("device");
  run.environment = in.object("environment");
  run.golden = in.string("golden");
  run.tool_version = in.string("tool_version");
  run.finished = in.boolean("finished", false);
  run.planned = in.integer("planned");
  run.plan_digest = in.string("plan_digest");
  run.plan = in.strings("plan");
  in.finish();
  if (run.planned != static_cast<std::int64_t>(run.plan.size()) || run.plan_digest != plan_digest(run.plan)) {
    throw Error("bad_evidence", where, "the plan has another number of cases or another digest than the file says");
  }
  return run;
}

Positions positions(const RunInfo& run, const std::string& where) {
  Positions result;
  result.reserve(run.plan.size());
  for (std::size_t i = 0; i < run.plan.size(); ++i) {
    if (!result.emplace(run.plan[i], i).second)
      throw Error("bad_evidence", where, fmt::format("'{}' is planned twice", run.plan[i]));
  }
  return result;
}

// One line, or nothing when it is the last one and not even JSON: the writer was stopped inside it.
std::optional<CaseRecord> read_line(std::string_view line, const std::string& where, bool last) {
  try {
    return parse_line(line, where);
  } catch (const Error&) {
    if (last && !Json::accept(line)) return std::nullopt;
    throw;
  }
}

}  // namespace

Evidence read_evidence(const std::filesystem::path& directory) {
  Evidence evidence;
  evidence.run = read_run(directory / "run.json");
  const Positions planned = positions(evidence.run, (directory / "run.json").string());
  const std::string file = (directory / "cases.jsonl").string();
  const std::string text = read_text(file, kMaxBytes);

  std::vector<std::optional<CaseRecord>> found(planned.size());
  std::string_view rest = text;
  for (std::int64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos) {
      evidence.torn_line = true;
      break;
    }
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    const std::string where = fmt::format("{}:{}", file, number);
    std::optional<CaseRecord> record = read_line(line, where, rest.empty());
    if (!record) {
      evidence.torn_line = true;
      break;
    }
    const auto position = planned.find(record->id);
    if (position == planned.end())
      throw Error("foreign_case", where, fmt::format("'{}' is not in the plan of run.json", record->id));
    found[position->second] = std::move(record);
  }

  evidence.cases.reserve(found.size());
  for (std::optional<CaseRecord>& record : found) {
    if (record) evidence.cases.push_back(std::move(*record));
  }
  return evidence;
}

}  // namespace driftgate
