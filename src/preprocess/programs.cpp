#include "preprocess/programs.hpp"

namespace driftgate::preprocess {

std::vector<Program> programs() {
  std::vector<Program> all = {decode(), resize_program(), colour(), normalise_program(), log_mel(), classify()};
  for (Program& program : moves()) all.push_back(std::move(program));
  return all;
}

}  // namespace driftgate::preprocess
