#pragma once
// How strict a user wants models judged: tolerances/profiles.json. Schema: docs/schema/profiles.schema.json.
//
//   {"schema": "driftgate.profiles/1", "profiles": [
//     {"profile": "standard", "scale": 1, "why": "…", "metrics": {"fp32": {"kl_mean": 1e-9, "kl_p95": 1e-8, "top1": 1, "cosine": 0.999999}}}]}
//
// `scale` multiplies the limits of rows for the bound ratio. Of the metrics (compare/metrics.hpp) top1 and cosine are the least that
// passes, the others the most; kl_max is reported and cannot be gated. An output that has no such metric is not asked for it,
// and the metrics are those of what a model says: gradients, which may turn at every kink of a relu, have the limit of their row alone.
#include <array>
#include <filesystem>
#include <map>
#include <string>

#include "case/spec.hpp"

namespace driftgate {

struct ModelProfile {
  std::string name, why;
  double scale = 1;
  std::array<std::map<std::string, double>, kPolicies> limits;               // by policy: metric -> limit

  // Error `unknown_profile`, naming those that there are.
  static ModelProfile load(const std::filesystem::path& file, const std::string& name);
  // The first metric beyond its limit; empty when all are within. NaN is beyond.
  std::string first_beyond(const std::map<std::string, double>& metrics, Policy policy) const;
};

}  // namespace driftgate
