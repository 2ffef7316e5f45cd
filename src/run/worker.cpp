#include "run/worker.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "error.hpp"
#include "judge/judgement.hpp"
#include "run/environment.hpp"
#include "run/runner.hpp"
#include "run/supervisor.hpp"
#include "tensor/safetensors.hpp"

namespace driftgate {
namespace {

constexpr int kResultFd = 3;

void save_tensors(const std::filesystem::path& directory, const CaseRecord& record, const std::map<std::string, Buffer>& tensors) {
  std::string file = record.id;
  std::replace(file.begin(), file.end(), '/', '.');
  std::filesystem::create_directories(directory);
  write_safetensors(directory / (file + ".safetensors"), Safetensors{tensors, {{"case", record.id}}});
}

}  // namespace

bool answer(std::string line) {
  line += '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t n = ::write(kResultFd, line.data() + sent, line.size() - sent);
    if (n < 0) return false;
    sent += static_cast<std::size_t>(n);
  }
  return true;
}

CaseRecord record_of(Runner& runner, const Case& c) {
  try {
    return runner.run(c);
  } catch (const Error& error) {
    CaseRecord record;
    record.id = c.id();
    record.stage = "no_reference";
    record.message = error.what();
    return record;
  }
}

int work(const WorkerOptions& options) {
  Json environment = open_device(options.device, options.tf32);
  environment.update(options.facts);
  if (!answer(environment.dump())) return 2;
  const Suite suite = Suite::load(options.cases);
  const ToleranceTable table = ToleranceTable::load(options.tolerances);
  std::optional<GoldenSet> golden;
  if (options.golden) golden = GoldenSet::open(*options.golden);
  Runner runner(options.device, golden ? &*golden : nullptr);
  int saved = 0;
  for (std::string id; std::getline(std::cin, id);) {
    const Case c = suite.find(id);
    const CaseRecord record = record_of(runner, c);
    if (!options.tensors.empty() && saved < kMostTensorFiles && !runner.last_tensors().empty() &&
        judge_case(record, c, table.row_for(c)).state == State::fail) {
      save_tensors(options.tensors, record, runner.last_tensors());
      ++saved;
    }
    if (!answer(to_line(record))) return 2;
    // An error of a kernel may leave the device useless for the whole process: the next worker gets a fresh one.
    if (record.stage == "raised" && options.device != Device::cpu && !available(options.device)) return kDeviceLost;
  }
  return 0;
}

}  // namespace driftgate
