#include "pt2/divergence.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "case/fill.hpp"
#include "device/executor.hpp"
#include "device/torch_types.hpp"
#include "error.hpp"
#include "judge/tolerance.hpp"
#include "pt2/interpreter.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

constexpr std::uint32_t kDraws = 8;
constexpr double kLimit = 64, kLooseLimit = 16;
const RunsOn kReference{c10::kCPU, true}, kCpu{c10::kCPU, false};

// The operators whose integers name elements: ties may be ordered freely.
bool chooses(const std::string& target) {
  constexpr std::array kChoosers = {".topk.", ".sort.", ".argsort.", ".argmax.", ".argmin.", ".max.dim", ".min.dim", ".kthvalue.", ".median.dim", ".mode."};
  return std::any_of(kChoosers.begin(), kChoosers.end(), [&](const char* chooser) { return target.find(chooser) != std::string::npos; });
}

double limit_of(DType dtype) {
  ToleranceRow row;
  row.limit = kLimit;
  row.loose_limit = kLooseLimit;
  if (dtype == DType::f16) return row.limit_at(Tier::loose, Policy::fp16);
  if (dtype == DType::bf16) return row.limit_at(Tier::loose, Policy::bf16);
  return kLimit;
}

bool same_values(const Values& a, const Values& b) {
  for (const auto& [name, value] : a)
    if (value.isTensor() && to_buffer(value.toTensor()).bytes != to_buffer(b.at(name).toTensor()).bytes) return false;
  return true;
}

// One node with a copy of its inputs, on the CPU.
class LocalNode {
 public:
  LocalNode(const NodeCall& call, const Values& values) : call_(call) {
    for (const auto& [name, value] : values)
      if (!value.isTensor()) inputs_[name] = value;
    for (const std::string& name : call.tensors())
      if (const auto found = values.find(name); found != values.end()) inputs_[name] = placed(found->second, kCpu);
  }

  std::vector<ReferenceOutput> reference() const {
    Values plain = evaluate(inputs_);
    if (!same_values(plain, evaluate(inputs_)))
      throw Error("random_node", call_.node().name + " (" + call_.node().target + ")", "gives other results each time", "export in eval mode, without random operators");
    std::vector<ReferenceOutput> made;
    for (const auto& [name, value] : plain) {
      if (!value.isTensor()) continue;
      ReferenceOutput output;
      output.name = name;
      output.value = to_buffer(value.toTensor());
      output.bound = output.integral() ? Bound::exact : Bound::general;
      if (!output.integral()) output.values = to_doubles(output.value);
      output.sensitivity.assign(output.values.size(), 0);
      made.push_back(std::move(output));
    }
    add_sensitivity(made);
    return made;
  }

  // In the CPU's own arithmetic.
  Values plain() const { return call_.run(placed(inputs_, kCpu), kCpu); }

  // Whether two indices choose elements of the same value.
  bool same_choice(const Buffer& got, const Buffer& want) const {
    const std::vector<std::string> names = call_.tensors();
    if (!chooses(call_.node().target) || names.empty() || got.dtype != DType::i64) return false;
    const at::Tensor self = inputs_.at(names.front()).toTensor();
    at::Tensor a = to_tensor(got), b = to_tensor(want);
    const std::optional<std::int64_t> dim = call_.integer("dim", inputs_);
    const bool whole = !dim && a.dim() == 0 && self.dim() > 0;
    const at::Tensor source = whole ? self.flatten() : self;
    const std::int64_t along = at::maybe_wrap_dim(dim.value_or(whole ? 0 : -1), source.dim());
    if (a.dim() == source.dim() - 1) {
      a = a.unsqueeze(along);
      b = b.unsqueeze(along);
    }
    if (a.dim() != source.dim() || a.dim() == 0) return false;
    if (!((a >= 0).logical_and(a < source.size(along))).all().item<bool>()) return false;
    return source.gather(along, a).equal(source.gather(along, b));
  }

 private:
  Values evaluate(const Values& inputs) const {
    try {
      return call_.run(placed(inputs, kReference), kReference);
    } catch (const c10::Error& error) {
      throw Error("no_reference", call_.node().name + " (" + call_.node().target + ")", std::string(error.what_without_backtrace()).substr(0, 300));
    }
  }

  Values moved(std::uint32_t draw) const {
    Values inputs = placed(inputs_, kReference);
    for (auto& [name, value] : inputs) {
      if (!value.isTensor() || value.toTensor().scalar_type() != c10::kDouble || value.toTensor().numel() == 0) continue;
      const at::Tensor tensor = value.toTensor();
      const std::vector<double> signs = random_signs(call_.node().name + "/" + name, draw, static_cast<std::size_t>(tensor.numel()));
      value = tensor.mul(at::from_blob(const_cast<double*>(signs.data()), tensor.sizes(), c10::kDouble).mul(kUnitRoundoff).add(1));
    }
    return inputs;
  }

  void add_sensitivity(std::vector<ReferenceOutput>& outputs) const {
    for (std::uint32_t draw = 0; draw < kDraws; ++draw) {
      const Values after = evaluate(moved(draw));
      for (ReferenceOutput& output : outputs) {
        if (output.integral()) continue;
        const std::vector<double> values = to_doubles(to_buffer(after.at(output.name).toTensor()));
        for (std::size_t e = 0; e < output.values.size() && e < values.size(); ++e) {
          const double d = values[e] - output.values[e];
          if (std::isfinite(d)) output.sensitivity[e] += d * d / kDraws;
        }
      }
    }
    for (ReferenceOutput& output : outputs)
      for (double& s : output.sensitivity) s = std::sqrt(s);
  }

  const NodeCall& call_;
  Values inputs_;                                       // tensors in their own dtype, and every number
};

// One tensor of a node; `required` is absent where it cannot be measured.
struct Measured {
  std::string problem;
  double required = 0, limit = 0, max_error = 0;
};

Measured measure(const Buffer& got, const ReferenceOutput& want, const LocalNode& local) {
  Measured measured;
  measured.limit = want.integral() ? 0 : limit_of(got.dtype);
  const bool same_kind = is_float(got.dtype) == is_float(want.value.dtype) && is_complex(got.dtype) == is_complex(want.value.dtype);
  if (got.shape != want.value.shape || !same_kind || (want.integral() && got.dtype != want.value.dtype)) {
    measured.problem = "wrong_shape";
    measured.required = std::numeric_limits<double>::infinity();
    return measured;
  }
  const Comparison comparison = compare_output(got, want);
  measured.required = comparison.required[static_cast<std::size_t>(want.bound)];
  measured.max_error = comparison.max_error;
  if (measured.required <= measured.limit) return measured;
  if (want.integral() && local.same_choice(got, want.value)) {
    measured.required = 0;
    return measured;
  }
  measured.problem = want.integral() ? "differs" : comparison.nonfinite_mismatch > 0 ? "nonfinite" : "over_limit";
  return measured;
}

double share_of_limit(const Measured& m) { return m.limit > 0 ? m.required / m.limit : m.required > 0 ? std::numeric_limits<double>::infinity() : 0; }

void compare_node(const Values& made, const std::vector<ReferenceOutput>& reference, const LocalNode& local, NodeResult& result) {
  const Values plain = local.plain();
  double worst = -1;
  for (const ReferenceOutput& want : reference) {
    const Buffer got = to_buffer(made.at(want.name).toTensor());
    const Measured measured = measure(got, want, local);
    const double share = measured.problem.empty() ? share_of_limit(measured) : std::numeric_limits<double>::infinity();
    if (!(share > worst) && !(std::isnan(share))) continue;
    worst = share;
    result.output = want.name;
    result.dtype = name(got.dtype);
    result.problem = measured.problem;
    result.required = measured.required;
    result.limit = measured.limit;
    result.max_error = measured.max_error;
    result.cpu_required = measure(to_buffer(plain.at(want.name).toTensor()), want, local).required;
  }
}

EndResult end_of(const std::string& output, const Buffer& got, const Buffer& want) {
  EndResult end;
  end.output = output;
  if (got.shape != want.shape) {
    end.finite = false;
    return end;
  }
  const std::vector<double> a = to_doubles(got), b = to_doubles(want);
  double error = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::isfinite(a[i]) != std::isfinite(b[i])) end.finite = false;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) continue;
    error += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
    end.max_error = std::max(end.max_error, std::fabs(a[i] - b[i]));
  }
  end.relative_rms = error == 0 ? 0 : std::sqrt(error / size);
  return end;
}

// Every node in fp64, from the fp64 inputs.
Values whole_reference(const std::vector<NodeCall>& calls, const Values& inputs) {
  Values values = placed(inputs, kReference);
  for (const NodeCall& call : calls) {
    if (call.only_asserts()) continue;                  // it would assert the dtypes of the file
    try {
      values.merge(call.run(values, kReference));
    } catch (const c10::Error& error) {
      throw Error("no_reference", call.node().name + " (" + call.node().target + ")", std::string(error.what_without_backtrace()).substr(0, 300));
    }
  }
  return values;
}

}  // namespace

const NodeResult* Divergence::first() const {
  const auto found = std::find_if(nodes.begin(), nodes.end(), [](const NodeResult& node) { return !node.agrees(); });
  return found == nodes.end() ? nullptr : &*found;
}

bool Divergence::agrees() const {
  const bool ends = std::all_of(outputs.begin(), outputs.end(), [](const EndResult& end) { return end.finite; });
  return !nodes.empty() && !outputs.empty() && first() == nullptr && ends;
}

Divergence find_divergence(const ExportedProgram& program, Device device, const NodeProgress& progress) {
  const c10::AutoGradMode no_gradients(false);
  const RunsOn on{torch_device(device), false};
  std::vector<NodeCall> calls;
  for (const ExportedNode& node : program.nodes) calls.emplace_back(node, program.where);
  const Values inputs = load_values(program), truth = whole_reference(calls, inputs);
  Divergence divergence;
  Values values = placed(inputs, on);
  for (std::size_t n = 0; n < calls.size(); ++n) {
    progress(n, calls.size());
    const LocalNode local(calls[n], values);
    Values made;
    const Observation observation = observe([&](Observation&) {
      made = calls[n].run(values, on);
      synchronize(device);
    });
    NodeResult result{calls[n].node().name, calls[n].node().target, calls[n].node().layer, "", "", "", "", 0, 0, 0, 0};
    if (observation.stage != "done") {
      result.problem = observation.stage;
      result.message = observation.message;
      divergence.nodes.push_back(std::move(result));
      return divergence;                                // what follows would need its result
    }
    if (!calls[n].only_asserts()) compare_node(made, local.reference(), local, result);
    if (!result.output.empty()) divergence.nodes.push_back(std::move(result));
    values.merge(std::move(made));
  }
  for (const std::string& output : program.outputs) {
    const Buffer value = to_buffer(values.at(output).toTensor());
    divergence.outputs.push_back(end_of(output, value, to_buffer(truth.at(output).toTensor())));
    divergence.values[output] = value;
  }
  return divergence;
}

Json to_json(const Divergence& divergence) {
  const auto node_json = [](const NodeResult& node) {
    Json made{{"node", node.node}, {"target", node.target}, {"layer", node.layer}, {"output", node.output}, {"dtype", node.dtype}, {"problem", node.problem}};
    if (!node.message.empty()) made["message"] = node.message;
    made["required"] = number(node.required);
    made["limit"] = node.limit;
    made["cpu_required"] = number(node.cpu_required);
    made["max_error"] = number(node.max_error);
    return made;
  };
  Json nodes = Json::array(), outputs = Json::array();
  for (const NodeResult& node : divergence.nodes) nodes.push_back(node_json(node));
  for (const EndResult& end : divergence.outputs)
    outputs.push_back(Json{{"output", end.output}, {"relative_rms", number(end.relative_rms)}, {"max_error", number(end.max_error)}, {"finite", end.finite}});
  const NodeResult* first = divergence.first();
  return Json{{"agrees", divergence.agrees()}, {"first", first ? node_json(*first) : Json()}, {"nodes", nodes}, {"outputs", outputs}};
}

}  // namespace driftgate
