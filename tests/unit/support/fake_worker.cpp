// Stands in for `driftgate worker` in supervisor_test.cpp: answers each case id at once, but dies or hangs of some ops.
//   abort, segv, exit: ends in that way; kill: by SIGKILL, with --marker FILE only the first time; hang: never answers;
//   lie: answers for another case; absent device: --absent
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "evidence/evidence.hpp"

namespace {

void answer(std::string line) {
  line += '\n';
  if (::write(3, line.data(), line.size()) < 0) std::_Exit(1);
}

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

}  // namespace

int main(int argc, char** argv) {
  const bool absent = argc > 1 && std::strcmp(argv[1], "--absent") == 0;
  const bool stillborn = argc > 1 && std::strcmp(argv[1], "--stillborn") == 0;
  if (stillborn) return 5;
  const std::string marker = argc > 2 && std::strcmp(argv[1], "--marker") == 0 ? argv[2] : "";
  answer(std::string(R"({"device":"cpu","torch":"0","gate":{"available":)") + (absent ? "false" : "true") + R"(,"checks":[]}})");
  for (std::string id; std::getline(std::cin, id);) {
    if (starts_with(id, "abort")) std::abort();
    if (starts_with(id, "segv")) std::raise(SIGSEGV);
    if (starts_with(id, "exit")) return 7;
    if (starts_with(id, "kill") && (marker.empty() || !std::filesystem::exists(marker))) {
      if (!marker.empty()) std::ofstream(marker) << "killed";
      std::raise(SIGKILL);
    }
    if (starts_with(id, "hang")) ::pause();
    if (starts_with(id, "slow")) ::usleep(30000);
    driftgate::CaseRecord record;
    record.id = starts_with(id, "lie") ? "other/a/fp32/forward/canonical" : id;
    record.input_digest = "00000000000000000000000000000000";
    answer(driftgate::to_line(record));
  }
  return 0;
}
