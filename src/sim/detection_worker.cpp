#include "sim/detection_worker.hpp"

#include <chrono>
#include <iostream>

#include "error.hpp"
#include "judge/judgement.hpp"
#include "run/environment.hpp"
#include "run/runner.hpp"
#include "sim/simulation.hpp"

namespace driftgate {
namespace {

class FaultWorker {
 public:
  FaultWorker(const WorkerOptions& options, const std::vector<Fault>& faults)
      : faults_(faults),
        suite_(Suite::load(options.cases)),
        table_(ToleranceTable::load(options.tolerances)),
        golden_(options.golden ? std::optional(GoldenSet::open(*options.golden)) : std::nullopt),
        runner_(options.device, golden_ ? &*golden_ : nullptr) {}

  Json run(const std::string& id, int fault) {
    plant_fault(fault);
    const auto start = std::chrono::steady_clock::now();
    Json result = judge(suite_.find(id));
    result["micros"] = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start).count();
    Json matched = Json::array(), prepared = Json::array();
    const std::vector<Activity> activities = activity();
    for (std::size_t i = 0; i < activities.size(); ++i) {
      if (activities[i].activations > 0) matched.push_back(i);
      if (activities[i].prepared) prepared.push_back(i);
    }
    result["activations"] = fault >= 0 ? activities.at(0).activations : 0;
    result["matched"] = std::move(matched);
    result["prepared"] = std::move(prepared);
    return result;
  }

 private:
  void plant_fault(int fault) {
    if (fault == kLookForAll) plant(faults_, /*observe=*/true);
    else if (fault != planted_) plant(fault >= 0 ? std::vector<Fault>{faults_.at(static_cast<std::size_t>(fault))} : std::vector<Fault>());
    planted_ = fault;
  }

  Json judge(const Case& c) {
    const Judgement judgement = judge_case(record_of(runner_, c), c, table_.row_for(c));
    return {{"state", name(judgement.state)}, {"reason", judgement.reason}, {"repeat", name(judgement.repeat)}};
  }

  const std::vector<Fault>& faults_;
  Suite suite_;
  ToleranceTable table_;
  std::optional<GoldenSet> golden_;
  Runner runner_;
  int planted_ = kNoFault;
};

}  // namespace

int work_on_faults(const WorkerOptions& options, const std::vector<Fault>& faults) {
  open_device(options.device, options.tf32);
  FaultWorker worker(options, faults);
  if (!answer(Json::object().dump())) return 2;
  for (std::string line; std::getline(std::cin, line);) {
    const Json order = parse_json(line, "stdin");
    if (!answer(worker.run(order["case"].get<std::string>(), order["fault"].get<int>()).dump())) return 2;
  }
  return 0;
}

}  // namespace driftgate
