#pragma once
// Makes golden sets on a CUDA card. Nothing else may.
//
// Every case runs twice here and twice in a second process (`repeat_goldens`); the largest distance to the first run is its spread.
// fp32 cases run once more with TF32 on. Cases that the card cannot run are listed in the manifest with its message.
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "case/case.hpp"
#include "device/device.hpp"
#include "run/golden.hpp"

namespace driftgate {

struct GoldenExport {
  GoldenContent content;
  std::map<std::string, std::string> unsupported;       // id -> message
};

using Progress = std::function<void(std::size_t done, std::size_t total)>;

GoldenExport make_goldens(Device device, const std::vector<Case>& cases, const Progress& progress);

// One more process's view of a set: for each case the largest distance of two runs to the stored sample, by output.
struct Repeat {
  std::string id;
  std::map<std::string, double> spread;
};
std::vector<Repeat> repeat_goldens(Device device, const std::vector<Case>& cases, const GoldenSet& set);
void add_repeats(GoldenContent& content, const std::vector<Repeat>& repeats);

// What differs between two sets, by stored bytes: ids whose outputs moved, and ids that only one has.
struct GoldenDifference {
  std::vector<std::string> moved, only_first, only_second;
  bool empty() const { return moved.empty() && only_first.empty() && only_second.empty(); }
};
GoldenDifference difference(const GoldenSet& first, const GoldenSet& second);

// Problems of a set against this checkout's cases: missing ids, inputs made here that differ, ids that no spec has any more.
std::vector<std::string> verify(const GoldenSet& set, const std::vector<Case>& cases);

}  // namespace driftgate
