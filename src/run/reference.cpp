#include "run/reference.hpp"

#include <algorithm>
#include <cmath>

#include "device/torch_types.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::uint32_t kSignDraws = 8;
constexpr std::size_t kMostCorners = 3;                 // 2^3 evaluations; more inputs fall back to random signs

// What was widened moves by a rounding; what the operator wants as it is does not.
bool moves(const at::Tensor& tensor) { return tensor.scalar_type() == c10::kDouble || tensor.scalar_type() == c10::kComplexDouble; }

std::size_t components(const at::Tensor& tensor) {
  return static_cast<std::size_t>(tensor.numel()) * (tensor.is_complex() ? 2 : 1);
}

double* data_of(at::Tensor& tensor) { return static_cast<double*>(tensor.data_ptr()); }

at::Tensor edited(const at::Tensor& tensor, std::size_t input, const Edit& edit) {
  at::Tensor copy = tensor.clone();
  double* values = data_of(copy);
  for (std::size_t e = 0; e < components(copy); ++e) values[e] = edit(input, e, values[e]);
  return copy;
}

double difference(double a, double b) {
  const double d = std::fabs(a - b);
  return std::isfinite(d) ? d : 0;                      // an infinity has no slope
}

// A float that no output can have missed: another sign, another size, never NaN.
double other_value(double value) { return std::isfinite(value) && value != 0 ? -0.875 * value : 0.5; }

at::Tensor other_integers(const at::Tensor& tensor) {
  if (tensor.scalar_type() == c10::kBool) return tensor.logical_not();
  if (tensor.numel() == 0) return tensor;
  const at::Tensor first = tensor.flatten()[0].expand_as(tensor).contiguous();      // within the range of an index
  return first.equal(tensor) ? at::where(tensor == 0, at::ones_like(tensor), at::zeros_like(tensor)) : first;
}

bool same_outputs(const Observation& a, const std::vector<ReferenceOutput>& b) {
  if (a.stage != "done" || a.outputs.size() != b.size()) return false;
  for (std::size_t i = 0; i < b.size(); ++i)
    if (a.outputs[i].value.shape != b[i].value.shape || a.outputs[i].value.bytes != b[i].value.bytes) return false;
  return true;
}

}  // namespace

Units ReferenceOutput::units() const {
  return Units{sensitivity, squares, terms, terms_scalar, square_weight, allowance, signed_zero, rounded};
}

ReferenceMaker::ReferenceMaker(const Prepared& prepared)
    : prepared_(prepared), executor_(Device::cpu, prepared.source.row->bound_forward != Bound::exact) {
  for (const PreparedInput& input : prepared.inputs) inputs_.push_back(input.as_it_is ? to_tensor(input.buffer) : to_double_tensor(input.buffer));
}

at::Tensor ReferenceMaker::plain_upstream(std::size_t index, const at::Tensor& output) {
  if (upstream_.size() <= index) upstream_.resize(index + 1);
  at::Tensor& made = upstream_[index];
  if (!made.defined() || made.sizes() != output.sizes()) {
    DType dtype = computed_dtype(prepared_.source.policy);
    if (output.is_complex()) dtype = DType::c64;
    made = to_double_tensor(fill_tensor(Fill{}, dtype, Shape(output.sizes().begin(), output.sizes().end()),
                                        prepared_.key + "/upstream." + std::to_string(index)));
    if (prepared_.repeated_upstream && made.dim() > 0 && made.numel() > 0) made = made[0].expand_as(made).contiguous();
  }
  return made;
}

Upstream ReferenceMaker::upstream() {
  return [this](std::size_t index, const at::Tensor& output) { return plain_upstream(index, output); };
}

Observation ReferenceMaker::evaluate_on(const std::vector<at::Tensor>& inputs, const Edit* edit) {
  return executor_.run(prepared_, inputs, [&](std::size_t index, const at::Tensor& output) {
    const at::Tensor plain = plain_upstream(index, output);
    return edit ? edited(plain, inputs_.size() + index, *edit) : plain;
  });
}

Observation ReferenceMaker::evaluate(const Edit& edit) {
  std::vector<at::Tensor> inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs.push_back(moves(inputs_[i]) ? edited(inputs_[i], i, edit) : inputs_[i]);
  return evaluate_on(inputs, &edit);
}

std::size_t ReferenceMaker::moving_inputs() const {
  const auto moving = std::count_if(inputs_.begin(), inputs_.end(), moves);
  return static_cast<std::size_t>(moving) + upstream_.size();
}

Reference ReferenceMaker::make() {
  Reference reference;
  Observation observation = evaluate_on(inputs_, nullptr);
  if (observation.stage != "done") {
    reference.message = observation.stage + ": " + observation.message;
    return reference;
  }
  const Row& row = *prepared_.source.row;
  for (Output& output : observation.outputs) {
    ReferenceOutput made;
    made.name = output.name;
    made.value = std::move(output.value);
    made.bound = made.integral() ? Bound::exact : row.bound(prepared_.source.direction);
    made.signed_zero = row.signed_zero;
    if (is_amp(prepared_.source.policy)) made.rounded = computed_dtype(prepared_.source.policy);
    if (!made.integral()) made.values = to_doubles(made.value);
    reference.outputs.push_back(std::move(made));
  }
  reference.ok = true;
  switch (row.bound(prepared_.source.direction)) {
    case Bound::exact:
    case Bound::statistical:
    case Bound::ratio:
    case Bound::ensemble:
    case Bound::levels: break;
    case Bound::pointwise: moving_inputs() <= kMostCorners ? add_corner_sensitivity(reference) : add_rms_sensitivity(reference); break;
    case Bound::linear: add_linear_units(reference); break;
    case Bound::general: add_rms_sensitivity(reference); break;
  }
  add_allowance(reference);
  find_inert(reference);
  return reference;
}

void ReferenceMaker::add_corner_sensitivity(Reference& reference) {
  std::vector<unsigned> bit(inputs_.size() + upstream_.size(), 0);
  unsigned bits = 0;
  for (std::size_t i = 0; i < bit.size(); ++i) bit[i] = i >= inputs_.size() || moves(inputs_[i]) ? 1U << bits++ : 0;
  for (ReferenceOutput& output : reference.outputs) output.sensitivity.assign(output.values.size(), 0);
  for (unsigned corner = 0; corner < 1U << bits; ++corner) {
    const Observation moved = evaluate([&](std::size_t input, std::size_t, double value) {
      return value * (corner & bit[input] ? 1 + kUnitRoundoff : 1 - kUnitRoundoff);
    });
    for (std::size_t o = 0; o < moved.outputs.size(); ++o) {
      ReferenceOutput& output = reference.outputs[o];
      if (output.integral()) continue;
      const std::vector<double> values = to_doubles(moved.outputs[o].value);
      for (std::size_t e = 0; e < output.values.size() && e < values.size(); ++e)
        output.sensitivity[e] = std::max(output.sensitivity[e], difference(values[e], output.values[e]));
    }
  }
}

void ReferenceMaker::add_rms_sensitivity(Reference& reference) {
  for (ReferenceOutput& output : reference.outputs) output.sensitivity.assign(output.values.size(), 0);
  for (std::uint32_t draw = 0; draw < kSignDraws; ++draw) {
    std::vector<std::vector<double>> signs(inputs_.size() + upstream_.size());
    for (std::size_t i = 0; i < signs.size(); ++i) {
      const at::Tensor& tensor = i < inputs_.size() ? inputs_[i] : upstream_[i - inputs_.size()];
      if (tensor.defined() && moves(tensor))
        signs[i] = random_signs(prepared_.key + "/sign." + std::to_string(i), draw, components(tensor));
    }
    const Observation moved = evaluate([&](std::size_t input, std::size_t element, double value) {
      return value * (1 + kUnitRoundoff * signs[input][element]);
    });
    for (std::size_t o = 0; o < moved.outputs.size(); ++o) {
      ReferenceOutput& output = reference.outputs[o];
      if (output.integral()) continue;
      const std::vector<double> values = to_doubles(moved.outputs[o].value);
      for (std::size_t e = 0; e < output.values.size() && e < values.size(); ++e) {
        const double d = difference(values[e], output.values[e]);
        output.sensitivity[e] += d * d;
      }
    }
  }
  for (ReferenceOutput& output : reference.outputs)
    for (double& s : output.sensitivity) s = std::sqrt(s / kSignDraws);
}

void ReferenceMaker::add_linear_units(Reference& reference) {
  const Observation squares = evaluate([](std::size_t, std::size_t, double value) { return value * value; });
  const Terms& terms = prepared_.source.arguments->terms;
  Observation ones;
  for (std::size_t o = 0; o < reference.outputs.size(); ++o) {
    ReferenceOutput& output = reference.outputs[o];
    if (output.integral()) continue;
    output.square_weight = prepared_.source.arguments->square_weight;
    if (o < squares.outputs.size()) output.squares = to_doubles(squares.outputs[o].value);
    for (double& q : output.squares) q = std::fabs(q);
    const std::string argument = output.name.rfind("grad.", 0) == 0 ? output.name.substr(5) : output.name;
    if (const auto given = terms.of(argument)) {
      output.terms_scalar = *given;
      continue;
    }
    if (ones.outputs.empty()) ones = evaluate([](std::size_t, std::size_t, double) { return 1.0; });
    if (o < ones.outputs.size()) output.terms = to_doubles(ones.outputs[o].value);
    for (double& k : output.terms) k = std::max(1.0, std::fabs(k));
  }
}

void ReferenceMaker::add_allowance(Reference& reference) {
  const Row& row = *prepared_.source.row;
  const bool backward = prepared_.source.direction == Direction::backward;
  const Allowance& allow = backward ? row.allow_backward : row.allow;
  if (!allow.any()) return;
  const auto first = std::find_if(inputs_.begin(), inputs_.end(), moves);
  const bool by_input = allow.abs_x || allow.inverse_x || allow.abs_g || allow.abs_xg || allow.extent_max;
  if (by_input && first == inputs_.end())
    throw Error("bad_allowance", row.file + ": " + prepared_.source.id(), "no floating input to measure it by");
  const double* x = by_input ? static_cast<const double*>(first->const_data_ptr()) : nullptr;
  const std::size_t count = by_input ? components(*first) : 0;
  const at::Tensor* g = backward && !upstream_.empty() && upstream_[0].defined() ? &upstream_[0] : nullptr;
  if (!backward && (allow.abs_g || allow.abs_xg)) {       // an aten-level backward op: its first floating argument is the gradient
    g = &*first;
    const auto second = std::find_if(first + 1, inputs_.end(), moves);
    if (second == inputs_.end()) throw Error("bad_allowance", row.file + ": " + prepared_.source.id(), "no saved input beside the gradient");
    x = static_cast<const double*>(second->const_data_ptr());
  }
  for (ReferenceOutput& output : reference.outputs) {
    if (output.integral()) continue;
    const bool elementwise = allow.abs_x || allow.inverse_x || allow.abs_g || allow.abs_xg;
    if (elementwise && (count != output.values.size() || (g && components(*g) != count)))
      throw Error("bad_allowance", row.file + ": " + prepared_.source.id(), "an elementwise allowance needs an output of its input's size");
    double constant = allow.constant;
    if (allow.extent_max) {
      const at::Tensor& source = g ? *g : *first;
      std::int64_t extent = 1;
      for (const auto& sizes : {source.sizes().vec(), output.value.shape})
        for (std::size_t d = sizes.size() >= 4 ? sizes.size() - 2 : sizes.size() - 1; d < sizes.size(); ++d) extent = std::max(extent, sizes[d]);
      constant += allow.extent_max * static_cast<double>(extent) * source.abs().max().item<double>();
    }
    output.allowance.resize(output.values.size());
    const double* gradient = g ? static_cast<const double*>(g->const_data_ptr()) : nullptr;
    for (std::size_t e = 0; e < output.allowance.size(); ++e) {
      double sum = constant;
      if (elementwise) {
        const double ax = std::fabs(x[e]), ag = gradient ? std::fabs(gradient[e]) : 0;
        sum += allow.abs_x * ax + (allow.inverse_x ? allow.inverse_x / ax : 0) + allow.abs_g * ag + allow.abs_xg * ax * ag;
      }
      output.allowance[e] = kUnitRoundoff * sum;
    }
  }
}

// Forward: every input must matter. Backward: a gradient may well not depend on the inputs, but it must depend on the upstream one.
void ReferenceMaker::find_inert(Reference& reference) {
  const bool backward = prepared_.source.direction == Direction::backward;
  if (backward) {
    const std::size_t n = inputs_.size();
    const Observation other = evaluate([&](std::size_t input, std::size_t, double value) { return input >= n ? other_value(value) : value; });
    if (same_outputs(other, reference.outputs)) reference.inert.push_back("upstream");
    return;
  }
  const std::vector<std::string>& due = prepared_.source.row->inert;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].numel() == 0 || std::find(due.begin(), due.end(), prepared_.inputs[i].name) != due.end()) continue;
    std::vector<at::Tensor> inputs = inputs_;
    inputs[i] = moves(inputs[i]) ? edited(inputs[i], i, [](std::size_t, std::size_t, double value) { return other_value(value); })
                                 : other_integers(inputs[i]);
    if (same_outputs(evaluate_on(inputs, nullptr), reference.outputs)) reference.inert.push_back(prepared_.inputs[i].name);
  }
}

}  // namespace driftgate
