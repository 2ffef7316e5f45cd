#include "run/program_case.hpp"

#include <cmath>

#include "device/torch_types.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

// Of random signs; of a large program fewer, for its many elements are draws too.
constexpr std::uint32_t kSignDraws = 8, kFewDraws = 2;
constexpr std::int64_t kManyElements = std::int64_t{1} << 20, kMostElements = std::int64_t{1} << 22;

Json settings_of(const Case& c) {
  Json settings = Json::object();
  for (const auto& [name, argument] : c.arguments->arguments) settings[name] = std::get<Json>(argument);
  return settings;
}

std::string where_of(const Case& c) { return c.row->file + ": " + std::string(c.op_name()) + "." + c.arguments->name; }

Observation run_on(const PreparedProgram& prepared, const Tensors& inputs, Device device, bool reference,
                   const std::function<void(const Tensors&)>& look = {}) {
  return observe([&](Observation& into) {
    Tensors placed;
    for (const auto& [name, tensor] : inputs) placed.emplace(name, tensor.to(torch_device(device), /*non_blocking=*/false, /*copy=*/true));
    if (look) look(placed);
    const ProgramCall call{placed, prepared.declared, prepared.settings, prepared.where, prepared.source.policy, prepared.source.direction,
                           torch_device(device), reference};
    const std::vector<NamedTensor> outputs = prepared.program->run(call);
    synchronize(device);
    for (const NamedTensor& output : outputs) into.outputs.push_back({output.name, to_buffer(output.value.detach())});
  });
}

Tensors doubles(const PreparedProgram& prepared) {
  Tensors tensors;
  for (const PreparedInput& input : prepared.inputs) tensors.emplace(input.name, to_double_tensor(input.buffer));
  return tensors;
}

// Every floating input moved by one rounding, up or down.
Tensors moved(const PreparedProgram& prepared, const Tensors& plain, std::uint32_t draw) {
  Tensors tensors = plain;
  const double u = unit_roundoff(computed_dtype(prepared.source.policy));
  for (const PreparedInput& input : prepared.inputs) {
    if (!input.floating) continue;
    at::Tensor& tensor = tensors.at(input.name);
    const std::vector<double> signs = random_signs(prepared.key + "/" + input.name, draw, static_cast<std::size_t>(tensor.numel()));
    const at::Tensor factors = at::from_blob(const_cast<double*>(signs.data()), tensor.sizes(), c10::kDouble).mul(u).add(1);
    tensor = tensor.mul(factors);
  }
  return tensors;
}

// The sum of squared changes, and how many elements have one.
double squared_change(const std::vector<double>& after, const std::vector<double>& before) {
  double sum = 0;
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i) {
    const double change = after[i] - before[i];
    if (std::isfinite(change)) sum += change * change;
  }
  return sum;
}

void add_floors(const PreparedProgram& prepared, const Tensors& plain, Reference& reference) {
  std::vector<double> sums(reference.outputs.size(), 0);
  std::int64_t elements = 0;
  for (const PreparedInput& input : prepared.inputs) elements += input.floating ? numel(input.buffer.shape) : 0;
  const std::uint32_t draws = elements > kMostElements ? 1 : elements > kManyElements ? kFewDraws : kSignDraws;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    const Observation after = run_on(prepared, moved(prepared, plain, draw), Device::cpu, true);
    for (std::size_t o = 0; o < sums.size() && o < after.outputs.size(); ++o)
      if (!reference.outputs[o].integral()) sums[o] += squared_change(to_doubles(after.outputs[o].value), reference.outputs[o].values);
  }
  for (std::size_t o = 0; o < sums.size(); ++o) {
    ReferenceOutput& output = reference.outputs[o];
    if (output.values.empty()) continue;
    const double u = unit_roundoff(computed_dtype(prepared.source.policy)), count = static_cast<double>(output.values.size());
    const double itself = squared_change(std::vector<double>(output.values.size(), 0), output.values);
    output.floor = std::sqrt(sums[o] / (draws * count) + u * u * itself / count);
  }
}

}  // namespace

std::vector<ProgramInput> declared_inputs(const Case& c) {
  const Json values = settings_of(c);
  ObjectReader settings(values, where_of(c));
  std::vector<ProgramInput> declared = find_program(c.row->ops[c.op], c.row->file).inputs(settings);
  settings.finish();
  return declared;
}

PreparedProgram prepare_program(const Case& c) {
  PreparedProgram prepared;
  prepared.source = c;
  prepared.key = c.input_key();
  prepared.where = where_of(c);
  prepared.program = &find_program(c.row->ops[c.op], c.row->file);
  prepared.settings = settings_of(c);
  prepared.declared = declared_inputs(c);
  std::string digests;
  for (const ProgramInput& declared : prepared.declared) {
    PreparedInput input;
    input.name = declared.name;
    input.fill = declared.tensor.fill;
    const DType dtype = declared.tensor.dtype.value_or(dtype_of(c.policy));
    input.buffer = declared.value ? from_doubles(dtype, declared.value->shape, to_doubles(*declared.value)) : fill_tensor(declared.tensor.fill, dtype, declared.tensor.shape, prepared.key + "/" + declared.name);
    input.floating = is_float(dtype);
    input.differentiable = declared.parameter;
    input.differentiated = declared.parameter && c.direction == Direction::backward;
    digests += hex(digest(input.buffer));
    prepared.inputs.push_back(std::move(input));
  }
  prepared.digest = digest(digests);
  return prepared;
}

Observation run_program(const PreparedProgram& prepared, Device device, const std::function<void(const Tensors&)>& placed) {
  Tensors inputs;
  for (const PreparedInput& input : prepared.inputs) inputs.emplace(input.name, to_tensor(input.buffer));
  return run_on(prepared, inputs, device, false, placed);
}

Observation evaluate_program(const PreparedProgram& prepared, const Edit& edit) {
  Tensors inputs = doubles(prepared);
  for (std::size_t i = 0; i < prepared.inputs.size(); ++i) {
    if (!prepared.inputs[i].floating) continue;
    at::Tensor& tensor = inputs.at(prepared.inputs[i].name);
    double* values = static_cast<double*>(tensor.mutable_data_ptr());
    for (std::int64_t e = 0; e < tensor.numel(); ++e) values[e] = edit(i, static_cast<std::size_t>(e), values[e]);
  }
  return run_on(prepared, inputs, Device::cpu, true);
}

Reference program_reference(const PreparedProgram& prepared) {
  Reference reference;
  const Tensors plain = doubles(prepared);
  Observation observation = run_on(prepared, plain, Device::cpu, true);
  if (observation.stage != "done") {
    reference.message = observation.stage + ": " + observation.message;
    return reference;
  }
  const Bound bound = prepared.source.bound();
  for (Output& output : observation.outputs) {
    ReferenceOutput made;
    made.name = output.name;
    made.value = std::move(output.value);
    const bool levels = bound == Bound::levels && made.value.dtype == DType::u8;
    made.bound = made.integral() && !levels ? Bound::exact : bound;
    if (!made.integral()) made.values = to_doubles(made.value);
    reference.outputs.push_back(std::move(made));
  }
  reference.ok = true;
  if (bound == Bound::ratio) add_floors(prepared, plain, reference);
  return reference;
}

}  // namespace driftgate
