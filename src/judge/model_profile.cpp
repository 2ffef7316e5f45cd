#include "judge/model_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::string_view kSchema = "driftgate.profiles/1";
constexpr std::array<std::string_view, 2> kLeast = {"cosine", "top1"};
constexpr std::array<std::string_view, 3> kMost = {"kl_mean", "kl_p95", "relative_rms"};

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

ModelProfile read_profile(const Json& value, const std::string& where) {
  ObjectReader reader(value, where);
  ModelProfile profile;
  profile.name = reader.string("profile");
  profile.why = reader.string("why");
  profile.scale = reader.real("scale");
  if (!(profile.scale > 0 && profile.scale <= 100)) throw Error("bad_value", reader.where("scale"), "a scale is more than 0 and at most 100");
  for (const auto& [policy, metrics] : reader.object("metrics").items()) {
    const std::string at = reader.where("metrics") + "." + policy;
    auto& limits = profile.limits[static_cast<std::size_t>(parse_policy(policy, at))];
    if (!metrics.is_object()) throw Error("wrong_type", at, "must be an object of limits");
    for (const auto& [metric, limit] : metrics.items()) {
      if (!holds(kLeast, metric) && !holds(kMost, metric))
        throw Error("unknown_metric", at + "." + metric, "no metric that can be gated", "one of cosine, top1, kl_mean, kl_p95, relative_rms");
      limits[metric] = as_number(limit, at + "." + metric);
      if (!(limits[metric] >= 0)) throw Error("bad_value", at + "." + metric, "a limit is 0 or more");
    }
  }
  reader.finish();
  return profile;
}

}  // namespace

ModelProfile ModelProfile::load(const std::filesystem::path& file, const std::string& name) {
  const std::string where = file.string();
  const Json document = read_json(file);
  ObjectReader reader(document, where);
  if (reader.string("schema") != kSchema) throw Error("other_schema", reader.where("schema"), fmt::format("expected {}", kSchema));
  std::vector<std::string> names;
  std::optional<ModelProfile> found;
  for (const Json& value : reader.array("profiles")) {
    ModelProfile profile = read_profile(value, reader.where("profiles") + "[" + std::to_string(names.size()) + "]");
    if (std::find(names.begin(), names.end(), profile.name) != names.end()) throw Error("duplicate_profile", where, "'" + profile.name + "' is described twice");
    names.push_back(profile.name);
    if (profile.name == name) found = std::move(profile);
  }
  reader.finish();
  if (!found) throw Error("unknown_profile", where, "there is no profile '" + name + "'", fmt::format("one of {}", fmt::join(names, ", ")));
  return *found;
}

std::string ModelProfile::first_beyond(const std::map<std::string, double>& metrics, Policy policy) const {
  for (const auto& [metric, limit] : limits[static_cast<std::size_t>(policy)]) {
    const auto measured = metrics.find(metric);
    if (measured == metrics.end()) continue;
    if (holds(kLeast, metric) ? !(measured->second >= limit) : !(measured->second <= limit)) return metric;
  }
  return "";
}

}  // namespace driftgate
