#include "models/weights.hpp"

#include <cstdlib>
#include <filesystem>

#include "error.hpp"
#include "models/program.hpp"
#include "version.hpp"

namespace driftgate::models {

const Safetensors& weights(const std::string& name) {
  static std::map<std::string, Safetensors> read;
  const auto known = read.find(name);
  if (known != read.end()) return known->second;
  const char* given = std::getenv("DRIFTGATE_WEIGHTS");
  const std::filesystem::path folder = given ? std::filesystem::path(given) : std::filesystem::path(std::string(kSourceDir)) / "data/weights";
  const std::filesystem::path file = folder / (name + ".safetensors");
  if (!std::filesystem::exists(file)) throw Error(kWeightsMissing, file.string(), "these weights are not installed", "tools/setup.sh installs them, or see tools/weights.py");
  return read.emplace(name, read_safetensors(file)).first->second;
}

}  // namespace driftgate::models
