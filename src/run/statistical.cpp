#include "run/statistical.hpp"

#include <limits>

#include "compare/statistics.hpp"
#include "device/executor.hpp"
#include "device/generator.hpp"
#include "device/torch_types.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class Trial {
 public:
  Trial(Device device, const Prepared& prepared, CaseRecord& record)
      : device_(device), executor_(device), prepared_(prepared), record_(record), law_(*prepared.source.arguments->law), generator_(torch_device(device)) {
    as_in_training_.record_gradients = true;
    as_in_training_.gradients.assign(prepared.inputs.size(), false);
  }

  void run() {
    generator_.seed(prepared_.digest.low);
    const auto first = draw();
    const at::Tensor state = generator_.state();
    const auto second = draw();
    if (!first || !second) return;
    const std::vector<double> samples = to_doubles(*first), more = to_doubles(*second), zeros(samples.size(), 0);
    using Test = std::pair<const char*, double (*)(const Law&, std::span<const double>)>;
    for (const auto& [name, test] : {Test{"domain", domain_test}, {"law", law_test}, {"moments", moments_test}, {"lags", lags_test}})
      add(name, *first, test(law_, samples), test(law_, zeros));
    add("calls", *first, calls_test(law_, samples, more), calls_test(law_, zeros, zeros));
    generator_.set_state(state);
    const auto restored = draw();
    generator_.seed(prepared_.digest.low);
    const auto reseeded = draw();
    if (!restored || !reseeded) return;
    add("reseed", *first, reseeded->bytes == first->bytes ? 0 : kInfinity, 0);
    add("state", *second, restored->bytes == second->bytes && second->bytes != first->bytes ? 0 : kInfinity, kInfinity);
    for (OutputRecord& output : record_.outputs) output.repeat_bitwise = reseeded->bytes == first->bytes;
    if (!prepared_.op->slots().empty() && prepared_.op->writes(0)) strided();
  }

 private:
  // nullopt: the record says why.
  std::optional<Buffer> draw() {
    Observation observation = executor_.run(prepared_, device_inputs(prepared_), {}, as_in_training_);
    record_.stage = observation.stage;
    record_.message = observation.message;
    record_.warnings.assign(observation.warnings.begin(), observation.warnings.end());
    if (observation.stage == "done" && !observation.outputs.empty()) return std::move(observation.outputs[0].value);
    record_.outputs.clear();
    return std::nullopt;
  }

  // Every second element of a parent that is twice as long.
  void strided() {
    std::vector<at::Tensor> tensors = device_inputs(prepared_);
    for (at::Tensor& tensor : tensors) tensor = tensor.to(torch_device(device_));
    const at::Tensor parent = at::full({2 * tensors[0].numel()}, 1, tensors[0].options());
    const at::Tensor view = parent.slice(0, 0, parent.numel(), 2);
    view.copy_(tensors[0].flatten());
    tensors[0] = view.view(tensors[0].sizes());
    const at::Tensor gaps = parent.slice(0, 1, parent.numel(), 2);
    const Buffer before = to_buffer(gaps);
    const at::NoGradGuard no_grad;
    prepared_.op->call(tensors, false, torch_device(device_));
    synchronize(device_);
    const Buffer written = to_buffer(view);
    const std::vector<double> samples = to_doubles(written), zeros(samples.size(), 0);
    const double worst = std::max({domain_test(law_, samples), law_test(law_, samples), lags_test(law_, samples)});
    add("strided", written, to_buffer(gaps).bytes == before.bytes ? worst : kInfinity, law_test(law_, zeros));
  }

  void add(const char* name, const Buffer& value, double required, double zeros) {
    OutputRecord output;
    output.name = name;
    output.dtype = driftgate::name(value.dtype);
    output.shape = value.shape;
    output.bound = Bound::statistical;
    output.comparison.count = numel(value.shape);
    output.comparison.required[static_cast<std::size_t>(Bound::statistical)] = required;
    output.comparison.zeros_required = zeros;
    record_.outputs.push_back(std::move(output));
  }

  Device device_;
  Executor executor_;
  const Prepared& prepared_;
  Road as_in_training_;                                 // in grad mode, as dropout is used; nothing asks for a gradient
  CaseRecord& record_;
  const Law& law_;
  Generator generator_;
};

}  // namespace

void run_statistics(Device device, const Prepared& prepared, CaseRecord& record) {
  try {
    Trial(device, prepared, record).run();
  } catch (const c10::Error& error) {
    record.stage = "raised";
    record.message = error.what_without_backtrace();
    record.outputs.clear();
  }
}

}  // namespace driftgate
