#include <fmt/format.h>

#include "evidence/evidence.hpp"
#include "tensor/digest.hpp"

namespace driftgate {
namespace {

// The first key that only one of the two has, or whose values differ; the order of keys does not count.
std::string differing_key(const Json& a, const Json& b) {
  for (const auto& [key, value] : a.items()) {
    if (!b.contains(key) || nlohmann::json(b[key]) != nlohmann::json(value)) return key;
  }
  for (const auto& [key, value] : b.items()) {
    if (!a.contains(key)) return key;
  }
  return "";
}

}  // namespace

std::string plan_digest(const std::vector<std::string>& plan) {
  std::string text;
  for (const std::string& id : plan) text.append(id).append(1, '\n');
  return hex(digest(text));
}

Json to_json(const RunInfo& run) {
  return {{"schema", kEvidenceSchema},
          {"device", run.device},
          {"environment", run.environment},
          {"golden", run.golden},
          {"tool_version", run.tool_version},
          {"finished", run.finished},
          {"planned", run.planned},
          {"plan_digest", run.plan_digest},
          {"plan", run.plan}};
}

std::string difference(const RunInfo& a, const RunInfo& b) {
  if (a.device != b.device) return fmt::format("device: '{}' and '{}'", a.device, b.device);
  if (a.golden != b.golden) return fmt::format("golden set: '{}' and '{}'", a.golden, b.golden);
  if (a.tool_version != b.tool_version) return fmt::format("driftgate: '{}' and '{}'", a.tool_version, b.tool_version);
  const std::string key = differing_key(a.environment, b.environment);
  if (key.empty()) return "";
  const auto shown = [&](const RunInfo& run) { return run.environment.contains(key) ? run.environment[key].dump() : "nothing"; };
  return fmt::format("environment.{}: {} and {}", key, shown(a), shown(b));
}

}  // namespace driftgate
