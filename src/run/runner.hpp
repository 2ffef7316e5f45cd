#pragma once
// The only file that knows the whole flow: case → inputs → reference → observation → comparison → record.
#include <optional>

#include "device/device.hpp"
#include "evidence/evidence.hpp"
#include "run/golden.hpp"
#include "run/reference.hpp"
#include "run/subject.hpp"

namespace driftgate {

class Runner {
 public:
  // golden may be null: every case then records that its golden is missing.
  Runner(Device device, const GoldenSet* golden) : executor_(device), golden_(golden) {}

  CaseRecord run(const Case& c);
  // Outputs and reference of the case last run, named "<output>" and "<output>#reference".
  const std::map<std::string, Buffer>& last_tensors() const { return last_; }

 private:
  CaseRecord run_canonical(const Case& c);
  CaseRecord run_program_case(const Case& c);           // in program_run.cpp
  Subject& subject_of(const Case& c);

  Executor executor_;
  const GoldenSet* golden_;
  std::map<std::string, Buffer> last_;
  std::unique_ptr<Subject> subject_;                    // of the case last run: its twins follow it
  std::string subject_id_;
};

// Compares two runs of one case with its reference and its golden, output by output, into `record` and `last`. A device that gives other
// outputs than the reference has, or than the golden, leaves the stage `wrong_shape`.
void compare_runs(const Case& c, const Observation& observation, const Observation& repeat, const Reference& reference, const GoldenSet* golden,
                  CaseRecord& record, std::map<std::string, Buffer>& last);
// One output against its reference, in every family whose unit is known. golden_required is for the bound `ratio`.
Comparison compare_output(const Buffer& candidate, const ReferenceOutput& reference, double golden_required = 0);
// What a golden output says beside that reference and that candidate; the error of a repeated run uses it too.
GoldenRecord compare_golden(const GoldenOutput& golden, const Buffer& candidate, const ReferenceOutput& reference);
// `required` of one observation against another, in the units of the reference. 0 when equal in bits.
double distance(const Buffer& a, const Buffer& b, const ReferenceOutput& reference);
// One observation against another of the same device: two roundings may lie between them.
Comparison compare_observations(const Buffer& candidate, const Buffer& other, const ReferenceOutput& reference);
// The device tensors of a prepared case, in the dtypes of the case.
std::vector<at::Tensor> device_inputs(const Prepared& prepared);

}  // namespace driftgate
