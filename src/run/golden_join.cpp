#include "run/golden_join.hpp"

#include "error.hpp"

namespace driftgate {
namespace {

// A set that was joined before lists its own parts.
void add_sources(const Json& manifest, Json& joined) {
  if (const auto earlier = manifest.find("joined"); earlier != manifest.end()) {
    joined.insert(joined.end(), earlier->begin(), earlier->end());
    return;
  }
  joined.push_back({{"driftgate", manifest.value("driftgate", "")}, {"host", manifest.value("host", Json::object())}, {"cases", manifest.value("cases", 0)}});
}

}  // namespace

GoldenJoin join_goldens(const std::vector<std::filesystem::path>& parts, const std::set<std::string>& known) {
  Json provenance, unsupported = Json::object(), joined = Json::array();
  GoldenContent content;
  for (const std::filesystem::path& part : parts) {
    const GoldenSet set = GoldenSet::open(part);
    Json own = set.manifest();
    const Json refused = own.value("unsupported", Json::object());
    for (const std::string& family : set.families())
      for (const auto& [id, golden] : set.family(family))
        if (known.count(id)) {
          content[family].insert_or_assign(id, golden);
          unsupported.erase(id);
        }
    for (const auto& [id, why] : refused.items()) {
      if (!known.count(id)) continue;
      unsupported[id] = why;
      for (auto& [family, cases] : content) cases.erase(id);
    }
    add_sources(own, joined);
    for (const char* key : {"schema", "cases", "unsupported", "driftgate", "host", "joined"}) own.erase(key);
    if (provenance.is_null()) provenance = own;
    if (provenance != own)
      throw Error("other_card", (part / "manifest.json").string(), "another card, driver, build or flags than " + parts.front().string(), "join what one card made");
  }
  for (const char* key : {"driftgate", "host"}) provenance[key] = joined.back()[key];
  provenance["joined"] = joined;
  provenance["unsupported"] = unsupported;
  return {std::move(provenance), std::move(content)};
}

}  // namespace driftgate
