#include "sim/metal_lanes.hpp"

namespace driftgate {
namespace {

float halved(float (&lanes)[32]) {
  for (int distance = 16; distance > 0; distance /= 2)
    for (int lane = 0; lane < distance; ++lane) lanes[lane] += lanes[lane + distance];
  return lanes[0];
}

}  // namespace

float lane_sum(const float* x, std::int64_t count) {
  float chains[8][32] = {};
  for (std::int64_t i = 0; i < count; ++i) chains[(i / 32) % 8][i % 32] += x[i];
  for (int chain = 1; chain < 8; ++chain)
    for (int lane = 0; lane < 32; ++lane) chains[0][lane] += chains[chain][lane];
  return halved(chains[0]);
}

float flat_sum(const float* x, std::int64_t count) {
  float threads[32][32] = {};
  for (std::int64_t i = 0; i < count; ++i) threads[(i / 32) % 32][i % 32] += x[i];
  float groups[32];
  for (int group = 0; group < 32; ++group) groups[group] = halved(threads[group]);
  return halved(groups);
}

}  // namespace driftgate
