#include "command.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "error.hpp"
#include "version.hpp"

namespace driftgate {

void Common::add_to(CLI::App& command) {
  const std::filesystem::path home = std::string(kSourceDir);
  cases = home / "tests/cases";
  tolerances = home / "tolerances";
  golden = home / "golden";
  command.add_option("--cases", cases, "directory of the specs");
  command.add_option("--tolerances", tolerances, "directory of the tolerance table and the decision rules");
  command.add_option("--golden", golden, "a golden set, or a directory that holds one");
}

void Selection::add_to(CLI::App& command) {
  command.add_option("globs", globs, "case ids or ops; * and ? match");
  command.add_option("--family", families, "only these families")->allow_extra_args(false);
  command.add_option("--policy", policies, "only these dtype policies: fp32, fp16, bf16, amp_fp16, amp_bf16")->allow_extra_args(false);
  command.add_option("--tier", tier, "smoke, standard, full (slow cases and more twins too) or large (past 2^31 elements too)");
  command.add_option("--level", level, "only these levels: op, model, training, preprocess, with commas between");
  command.add_option("--shard", shard, "i/n: every n-th case, from the i-th");
}

Filter Selection::filter() const {
  Filter filter;
  filter.globs = globs;
  filter.families = families;
  for (const std::string& policy : policies) filter.policies.push_back(parse_policy(policy, "--policy"));
  filter.tier = parse_suite_tier(tier, "--tier");
  for (std::size_t at = 0; at <= level.size();) {
    const std::size_t end = std::min(level.find(',', at), level.size());
    filter.levels.push_back(parse_suite_level(level.substr(at, end - at), "--level"));
    at = end + 1;
  }
  char* end = nullptr;
  filter.shard = static_cast<int>(std::strtol(shard.c_str(), &end, 10));
  filter.shards = *end == '/' ? static_cast<int>(std::strtol(end + 1, &end, 10)) : 0;
  if (*end != '\0' || filter.shards < 1 || filter.shard < 0 || filter.shard >= filter.shards)
    throw Error("usage", "--shard", "'" + shard + "' is not i/n with 0 <= i < n");
  return filter;
}

Filter Selection::canonical() const {
  Filter found = filter();
  found.canonical_only = true;
  return found;
}

bool is_here(Device device) {
  const bool here = available(device);
  if (!here) std::fprintf(stderr, "driftgate: there is no %s device on this host; nothing was run\n", std::string(name(device)).c_str());
  return here;
}

void EvidenceArguments::add_to(CLI::App& command) {
  command.add_option("evidence", folders, "evidence folders of one device");
  command.add_option("--under", under, "every evidence folder below this directory");
}

std::vector<std::filesystem::path> EvidenceArguments::all() const {
  std::vector<std::filesystem::path> found = folders;
  if (!under.empty() && std::filesystem::is_directory(under))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(under))
      if (entry.path().filename() == "run.json") found.push_back(entry.path().parent_path());
  std::sort(found.begin(), found.end());
  return found;
}

Evidence EvidenceArguments::read() const {
  const std::vector<std::filesystem::path> found = all();
  if (found.empty()) throw Error("usage", under.empty() ? "evidence" : under.string(), "no evidence folder", "give the --out of a `driftgate run`");
  std::vector<Evidence> parts;
  for (const auto& folder : found) parts.push_back(read_evidence(folder));
  return parts.size() == 1 ? std::move(parts[0]) : merge(std::move(parts));
}

}  // namespace driftgate
