// Twenty sound runs of a training gate on the simulated device, each from another start and with its batches in another order, against the
// card's shipped ensemble: the gate may refuse none. A run with one gradient off by a percent says no.
#include <gtest/gtest.h>

#include <algorithm>

#include "judge/tolerance.hpp"
#include "run/ensemble_case.hpp"
#include "simulated.hpp"
#include "training/members.hpp"

namespace driftgate {
namespace {

constexpr std::uint32_t kRuns = 20, kFirst = 100;        // members that no golden has seen
const std::filesystem::path kHome = DRIFTGATE_SOURCE_DIR;

class ShippedGate {
 public:
  explicit ShippedGate(const std::string& key)
      : case_(suite().find("training." + key + "/backward/canonical")), prepared_(prepare_program(case_)), reference_(program_reference(prepared_)) {
    const GoldenSet golden = GoldenSet::open(find_golden_set(kHome / "golden").value());
    attach_ensembles(golden.find(case_.row->family, case_.id()), case_.policy, reference_);
    const ToleranceTable table = ToleranceTable::load(kHome / "tolerances");
    limit_ = table.row_for(case_).limit;
    margin_ = table.row_for(case_).margin;
  }

  // The largest share of its limit that an output of the run needs.
  double share(std::uint32_t member) const {
    const Observation run = run_program(member_of(prepared_, member), Device::sim);
    if (run.stage != "done" || run.outputs.size() != reference_.outputs.size()) return kAbsent;
    double largest = 0;
    for (std::size_t i = 0; i < run.outputs.size(); ++i) {
      const double required = compare_ensemble(run.outputs[i].value, reference_.outputs[i]).required[static_cast<std::size_t>(Bound::ensemble)];
      largest = std::max(largest, required / (run.outputs[i].name == "held_out" ? margin_ : limit_));
    }
    return largest;
  }

 private:
  static const Suite& suite() {
    static const Suite made = Suite::load(kHome / "tests/cases");
    return made;
  }

  Case case_;
  PreparedProgram prepared_;
  Reference reference_;
  double limit_ = 0, margin_ = 0;
};

TEST(ShippedTrainingGate, RefusesNoneOfTwentySoundRuns) {
  sim();
  for (const char* key : {"mlp/adamw/fp32", "mlp/adamw/amp_bf16"}) {
    const ShippedGate gate(key);
    double largest = 0;
    for (std::uint32_t run = 0; run < kRuns; ++run) {
      const double share = gate.share(kFirst + run);
      EXPECT_LE(share, 1) << key << ", start " << run;
      largest = std::max(largest, share);
    }
    RecordProperty(std::string(key), std::to_string(largest));
    EXPECT_GT(largest, 0) << "runs that do not differ at all are no evidence";
  }
}

TEST(ShippedTrainingGate, RefusesAGradientOffByAPercent) {
  const PlantedFault fault("aten::gelu_backward", R"({"kind": "scale", "by": 1.01})");
  EXPECT_GT(ShippedGate("mlp/adamw/fp32").share(kFirst), 1);
  EXPECT_GT(fault.activations(), 0);
}

}  // namespace
}  // namespace driftgate
