#include "report/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kForeach = "_foreach_";

// "add_.Tensor" and "_foreach_add.List" are calls of add.
std::string base_of(std::string_view op) { return std::string(op.substr(0, op.find('.'))); }

std::vector<std::string> forms(const std::string& base) {
  std::vector<std::string> names = {base, base + "_", std::string(kForeach) + base, std::string(kForeach) + base + "_"};
  if (base.back() == '_') names.push_back(base.substr(0, base.size() - 1));
  return names;
}

std::vector<std::vector<std::string>> read_table(const std::filesystem::path& file, std::size_t columns) {
  std::istringstream text(read_text(file));
  std::vector<std::vector<std::string>> rows;
  std::size_t number = 0;
  for (std::string line; std::getline(text, line);) {
    std::vector<std::string> fields(1);
    for (const char c : line) c == '\t' ? static_cast<void>(fields.emplace_back()) : fields.back().push_back(c);
    if (fields.size() != columns)
      throw Error("bad_table", fmt::format("{}: line {}", file.generic_string(), number + 1), fmt::format("{} fields, not {}", fields.size(), columns));
    if (number++ > 0) rows.push_back(std::move(fields));
  }
  return rows;
}

struct Reason {
  std::string by, text;
};

// Keyed by op. `key` is "device_only" or "missing".
std::map<std::string, Reason> read_reasons(ObjectReader& document, const std::string& key) {
  std::map<std::string, Reason> reasons;
  for (const Json& entry : document.array(key)) {
    ObjectReader reader(entry, document.where(key));
    Reason reason;
    const std::string op = reader.string("op");
    reason.text = reader.string("reason");
    if (key == "device_only") reason.by = reader.string("case");
    reader.finish();
    if (reason.text.empty()) throw Error("bad_value", document.where(key) + "." + op, "the reason is empty");
    if (!reasons.emplace(op, std::move(reason)).second) throw Error("duplicate_value", document.where(key), op + " is listed twice");
  }
  return reasons;
}

bool exists(const Suite& suite, const std::string& id) {
  try {
    suite.find(id);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string_view word(Covered how) {
  switch (how) {
    case Covered::called: return "called";
    case Covered::reached: return "reached";
    case Covered::device_only: return "device only";
    case Covered::missing: return "missing";
  }
  return "";
}

}  // namespace

std::int64_t Coverage::count(Covered how) const {
  return std::count_if(ops.begin(), ops.end(), [&](const CoveredOp& op) { return op.how == how; });
}

double Coverage::share() const { return ops.empty() ? 0 : static_cast<double>(covered()) / static_cast<double>(ops.size()); }

Coverage coverage_of(const Suite& suite, const std::filesystem::path& data) {
  std::map<std::string, std::string> called, reached;      // base -> case
  suite.for_each(Filter{}, [&](const Case& c) { called.emplace(base_of(c.op_name()), c.id()); });
  Coverage coverage;
  for (const auto& fields : read_table(data / "coverage_reached.tsv", 2)) {
    if (exists(suite, fields[1])) reached.emplace(fields[0], fields[1]);
    else coverage.stale.push_back(fmt::format("coverage_reached.tsv: {} is reached by '{}', which is no case", fields[0], fields[1]));
  }
  const std::filesystem::path file = data / "coverage_reasons.json";
  const Json reasons = read_json(file);
  ObjectReader document(reasons, file.generic_string());
  if (document.string("schema") != "driftgate.coverage_reasons/1") throw Error("wrong_schema", document.where("schema"), "must be \"driftgate.coverage_reasons/1\"");
  std::map<std::string, Reason> device_only = read_reasons(document, "device_only"), missing = read_reasons(document, "missing");
  document.finish();

  for (const auto& fields : read_table(data / "coverage_target_2.13.tsv", 4)) {
    CoveredOp op{fields[0], fields[1], fields[2], fields[3], Covered::missing, "", "", ""};
    for (const std::string& form : forms(op.op))
      if (const auto found = called.find(form); op.by.empty() && found != called.end()) op.by = found->second;
    if (const auto seen = reached.extract(op.op); !seen.empty() && op.group != "public") op.traced = seen.mapped();
    else if (!seen.empty()) coverage.stale.push_back(fmt::format("coverage_reached.tsv: {} is public", op.op));
    const auto elsewhere = device_only.extract(op.op), excused = missing.extract(op.op);
    if (!op.by.empty()) {
      op.how = Covered::called;
    } else if (!op.traced.empty()) {
      op.how = Covered::reached;
      op.by = op.traced;
    } else if (!elsewhere.empty() && exists(suite, elsewhere.mapped().by)) {
      op.how = Covered::device_only;
      op.by = elsewhere.mapped().by;
      op.reason = elsewhere.mapped().text;
    } else if (!excused.empty()) {
      op.reason = excused.mapped().text;
    }
    if (!elsewhere.empty() && op.how != Covered::device_only)
      coverage.stale.push_back(fmt::format("coverage_reasons.json: {} is {}, not reached by '{}' alone", op.op, word(op.how), elsewhere.mapped().by));
    if (!excused.empty() && op.how != Covered::missing) coverage.stale.push_back(fmt::format("coverage_reasons.json: {} is {}, not missing", op.op, word(op.how)));
    coverage.ops.push_back(std::move(op));
  }
  for (const auto& [op, id] : reached) coverage.stale.push_back("coverage_reached.tsv: " + op + " is no operator of the target");
  for (const auto& rest : {device_only, missing})
    for (const auto& [op, reason] : rest) coverage.stale.push_back("coverage_reasons.json: " + op + " is no operator of the target");
  return coverage;
}

std::string coverage_document(const Coverage& coverage) {
  std::string text = "# Coverage\n\nGenerated by `driftgate docs` from the suite and `data/`; do not edit.\n\n";
  text += fmt::format(
      "Of {} base operators with an MPS kernel in torch 2.13, the suite covers {} ({:.1f} %): {} are called by a case, {} are only reached\n"
      "through another operator, {} have no CPU kernel and are reached on the device alone.\n\n",
      coverage.ops.size(), coverage.covered(), 100 * coverage.share(), coverage.count(Covered::called), coverage.count(Covered::reached),
      coverage.count(Covered::device_only));
  std::map<std::string, std::map<Covered, std::int64_t>> families;
  for (const CoveredOp& op : coverage.ops) ++families[op.family][op.how];
  text += "| family | operators | called | reached | device only | missing |\n|---|---|---|---|---|---|\n";
  for (auto& [family, counts] : families) {
    std::int64_t all = 0;
    for (const auto& [how, count] : counts) all += count;
    text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", family, all, counts[Covered::called], counts[Covered::reached],
                        counts[Covered::device_only], counts[Covered::missing]);
  }
  text += "\n## Missing\n\n| operator | reason |\n|---|---|\n";
  for (const CoveredOp& op : coverage.ops)
    if (op.how == Covered::missing) text += fmt::format("| {} | {} |\n", op.op, op.reason.empty() ? "none is given" : op.reason);
  text += "\n## Reached on the device alone\n\n| operator | by | |\n|---|---|---|\n";
  for (const CoveredOp& op : coverage.ops)
    if (op.how == Covered::device_only) text += fmt::format("| {} | `{}` | {} |\n", op.op, op.by, op.reason);
  text += "\n## Reached through another operator\n\nA trace on the CPU saw it.\n\n| operator | by | called too |\n|---|---|---|\n";
  for (const CoveredOp& op : coverage.ops)
    if (!op.traced.empty()) text += fmt::format("| {} | `{}` | {} |\n", op.op, op.traced, op.how == Covered::called ? "yes" : "no");
  return text;
}

}  // namespace driftgate
