#include "run/runnable.hpp"

#include "error.hpp"
#include "run/program_case.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

class RunnableOperator : public Runnable {
 public:
  explicit RunnableOperator(const Case& c) : prepared_(prepare(c)), maker_(prepared_), tensors_(device_inputs(prepared_)) {}
  const Case& source() const override { return prepared_.source; }
  const std::vector<PreparedInput>& inputs() const override { return prepared_.inputs; }
  Digest digest() const override { return prepared_.digest; }
  Reference reference() override { return maker_.make(); }
  Observation evaluate(const Edit& edit) override { return maker_.evaluate(edit); }
  Observation run(Device device) override { return Executor(device).run(prepared_, tensors_, maker_.upstream()); }

 private:
  Prepared prepared_;
  ReferenceMaker maker_;
  std::vector<at::Tensor> tensors_;
};

class RunnableProgram : public Runnable {
 public:
  explicit RunnableProgram(const Case& c) : prepared_(prepare_program(c)) {}
  const Case& source() const override { return prepared_.source; }
  const std::vector<PreparedInput>& inputs() const override { return prepared_.inputs; }
  Digest digest() const override { return prepared_.digest; }
  Reference reference() override { return program_reference(prepared_); }
  Observation evaluate(const Edit& edit) override { return evaluate_program(prepared_, edit); }
  Observation run(Device device) override { return run_program(prepared_, device); }

 private:
  PreparedProgram prepared_;
};

}  // namespace

std::string not_installed(const Case& c) {
  if (c.level() == SuiteLevel::op) return "";
  try {
    declared_inputs(c);
  } catch (const Error& error) {
    if (error.name() == kWeightsMissing) return error.what();
  }
  return "";
}

std::unique_ptr<Runnable> make_runnable(const Case& c) {
  if (c.level() == SuiteLevel::op) return std::make_unique<RunnableOperator>(c);
  return std::make_unique<RunnableProgram>(c);
}

}  // namespace driftgate
