#include <algorithm>

#include "device/torch_types.hpp"
#include "error.hpp"
#include "run/pair.hpp"
#include "run/runner.hpp"
#include "run/subject.hpp"

namespace driftgate {
namespace {

constexpr int kRepeats = 8;

Layout layout_of(TwinKind kind) {
  switch (kind) {
    case TwinKind::permuted: return Layout::permuted;
    case TwinKind::step2: return Layout::step2;
    case TwinKind::offset: return Layout::offset;
    case TwinKind::slice:
    case TwinKind::inplace_strided: return Layout::slice;
    case TwinKind::channels_last: return Layout::channels_last;
    case TwinKind::expanded: return Layout::expanded;
    default: return Layout::contiguous;
  }
}

std::size_t input_named(const Prepared& prepared, const std::string& name) {
  const auto found = std::find_if(prepared.inputs.begin(), prepared.inputs.end(), [&](const PreparedInput& i) { return i.name == name; });
  if (found == prepared.inputs.end()) throw Error("bad_twin", prepared.source.id(), "there is no operand '" + name + "'");
  return static_cast<std::size_t>(found - prepared.inputs.begin());
}

// One twin at work.
class TwinRun {
 public:
  TwinRun(const Case& twin, Subject& subject, const Executor& executor) : twin_(twin), subject_(&subject), executor_(executor) {}

  CaseRecord run() {
    record_.id = twin_.id();
    record_.input_digest = hex(subject_->prepared.digest);
    if (twin_.twin->kind == TwinKind::expanded || twin_.twin->kind == TwinKind::upstream_expanded) replace_subject();
    if (!subject_->reference.ok) {
      record_.stage = "no_reference";
      record_.message = subject_->reference.message;
      return record_;
    }
    if (!accept(subject_->run_plain(executor_), "plain call: ")) return record_;
    act();
    if (record_.stage == "done" && grows()) {
      record_.stage = "side_effect";
      record_.message = "every call keeps memory: " + std::to_string(in_use_.back() - in_use_.front()) + " bytes more after " +
                        std::to_string(in_use_.size() - 1) + " calls";
      record_.outputs.clear();
    }
    return record_;
  }

 private:
  // The same case with other values: those that the layout can hold.
  void replace_subject() {
    Prepared prepared = subject_->prepared;
    if (twin_.twin->kind == TwinKind::upstream_expanded) {
      prepared.repeated_upstream = true;
    } else {
      Buffer& values = prepared.inputs[input_named(prepared, twin_.twin->argument)].buffer;
      const std::size_t slice = values.bytes.size() / static_cast<std::size_t>(values.shape.front());
      for (std::size_t i = slice; i < values.bytes.size(); ++i) values.bytes[i] = values.bytes[i - slice];
    }
    own_ = std::make_unique<Subject>(std::move(prepared));
    subject_ = own_.get();
  }

  void act() {
    switch (twin_.twin->kind) {
      case TwinKind::inplace:
      case TwinKind::inplace_strided: return along(in_place(), Form::in_place);
      case TwinKind::out: return along(into_outs(), Form::out);
      case TwinKind::inputs_kept: return along(keeping_inputs());
      case TwinKind::repeat: return repeat();
      case TwinKind::poisoned: return poisoned();
      case TwinKind::grad_mode: return along(recording());
      case TwinKind::grads:
      case TwinKind::not_grads: return along(with_gradients());
      case TwinKind::upstream_strided: return along(with_upstream(Layout::step2));
      case TwinKind::upstream_expanded: return along(with_upstream(Layout::expanded));
      case TwinKind::batch: return by_batch();
      case TwinKind::pair: return pair();
      default: return along(with_layout());
    }
  }

  Road with_layout() const {
    Road road;
    road.layouts.assign(subject_->inputs.size(), Layout::contiguous);
    road.layouts[input_named(subject_->prepared, twin_.twin->argument)] = layout_of(twin_.twin->kind);
    return road;
  }
  Road in_place() const {
    Road road;
    road.layouts.assign(subject_->inputs.size(), Layout::contiguous);
    const at::Tensor& self = subject_->inputs.at(0);
    if (twin_.twin->kind == TwinKind::inplace_strided) road.layouts[0] = self.dim() == 0 ? Layout::offset : Layout::slice;
    return road;
  }
  Road into_outs() const {
    Road road;
    for (const Output& output : subject_->plain.outputs) road.outs.push_back(to_tensor(output.value));
    return road;
  }
  static Road keeping_inputs() {
    Road road;
    road.inputs_kept = true;
    return road;
  }
  static Road recording() {
    Road road;
    road.record_gradients = true;
    return road;
  }
  static Road with_upstream(Layout layout) {
    Road road;
    road.upstream = layout;
    return road;
  }
  Road with_gradients() const {
    const bool all_but = twin_.twin->kind == TwinKind::not_grads;
    Road road;
    road.gradients.assign(subject_->inputs.size(), all_but);
    road.gradients[input_named(subject_->prepared, twin_.twin->argument)] = !all_but;
    return road;
  }

  void along(const Road& road, Form form = Form::functional) {
    Prepared prepared = subject_->prepared;
    if (form != Form::functional) prepared.op = std::make_shared<BoundOperator>(twin_, form);
    Observation seen = executor_.run(prepared, subject_->inputs, subject_->maker->upstream(), road);
    if (accept(seen, "")) compare_with_plain(std::move(seen.outputs));
  }

  void repeat() {
    for (int i = 0; i < kRepeats; ++i) {
      const Observation seen = executor_.run(subject_->prepared, subject_->inputs, subject_->maker->upstream());
      if (!accept(seen, "")) return;
      compare_with_plain(seen.outputs);
      const auto differs = [](const OutputRecord& o) { return !o.repeat_bitwise; };
      if (record_.stage != "done" || std::any_of(record_.outputs.begin(), record_.outputs.end(), differs)) return;
    }
  }

  void poisoned() {
    poison_free_memory(executor_.device());
    along({});
  }

  // Row 0 alone, then the others together.
  void by_batch() {
    std::vector<std::vector<at::Tensor>> parts(subject_->plain.outputs.size());
    for (const std::vector<at::Tensor>& inputs : rows_apart(subject_->inputs)) {
      const Observation seen = executor_.run(subject_->prepared, inputs, subject_->maker->upstream());
      if (!accept(seen, "")) return;
      for (std::size_t o = 0; o < parts.size() && o < seen.outputs.size(); ++o) parts[o].push_back(to_tensor(seen.outputs[o].value));
    }
    std::vector<Output> joined;
    for (std::size_t o = 0; o < parts.size(); ++o) joined.push_back({subject_->plain.outputs[o].name, to_buffer(at::cat(parts[o], 0))});
    compare_with_plain(std::move(joined));
  }

  // Altered, plain, altered: whichever of the two was cached first, the other one follows it.
  void pair() {
    const AlteredCase altered(subject_->prepared.source, twin_.twin->argument);
    Subject other(prepare(altered.get()));
    if (!other.reference.ok) throw Error("bad_twin", twin_.id(), "the altered call has no reference: " + other.reference.message);
    for (int round = 0; round < 2; ++round) {
      const Observation seen = executor_.run(other.prepared, other.inputs, other.maker->upstream());
      if (!accept(seen, "altered call: ")) return;
      if (round == 0) along({});
      if (record_.stage != "done") return;
      add(seen.outputs, other.reference, nullptr, ".altered");
    }
  }

  // A cache fills at the first call of a kind and then stays: what grows with every call, of one shape or of several, is lost.
  bool grows() const {
    const auto not_more = [](std::int64_t before, std::int64_t after) { return after <= before; };
    return in_use_.size() > 2 && std::adjacent_find(in_use_.begin(), in_use_.end(), not_more) == in_use_.end();
  }

  bool accept(const Observation& seen, const std::string& which) {
    if (twin_.twin->kind == TwinKind::repeat || twin_.twin->kind == TwinKind::batch)
      if (const auto bytes = bytes_in_use(executor_.device())) in_use_.push_back(*bytes);
    record_.stage = seen.stage;
    record_.message = seen.stage == "done" ? "" : which + seen.message;
    record_.warnings.insert(record_.warnings.end(), seen.warnings.begin(), seen.warnings.end());
    if (seen.stage == "done" && !seen.side_effects.empty()) {
      record_.stage = "side_effect";
      record_.message = which + seen.side_effects.front();
    }
    return record_.stage == "done";
  }

  // A gradient that was not asked for is absent from the twin.
  void compare_with_plain(std::vector<Output> outputs) {
    record_.outputs.clear();
    const bool all_due = twin_.twin->kind != TwinKind::grads && twin_.twin->kind != TwinKind::not_grads;
    if (outputs.empty() || (all_due && outputs.size() != subject_->plain.outputs.size())) {
      record_.stage = "wrong_shape";
      record_.message = std::to_string(outputs.size()) + " outputs, not " + std::to_string(subject_->plain.outputs.size());
      return;
    }
    add(outputs, subject_->reference, &subject_->plain, "");
  }

  void add(const std::vector<Output>& outputs, const Reference& reference, const Observation* plain, const std::string& suffix) {
    for (const Output& got : outputs) {
      const auto truth = std::find_if(reference.outputs.begin(), reference.outputs.end(), [&](const ReferenceOutput& o) { return o.name == got.name; });
      const Buffer* want = nullptr;
      if (plain)
        for (const Output& output : plain->outputs)
          if (output.name == got.name) want = &output.value;
      const bool in_place = twin_.twin->kind == TwinKind::inplace || twin_.twin->kind == TwinKind::inplace_strided;
      const Shape due = want ? want->shape : truth != reference.outputs.end() ? truth->value.shape : Shape{-1};
      if (truth == reference.outputs.end() || got.value.shape != due || (want && !in_place && want->dtype != got.value.dtype)) {
        record_.stage = "wrong_shape";
        record_.message = "'" + got.name + "' has another name, shape or dtype than the plain call's";
        record_.outputs.clear();
        return;
      }
      OutputRecord output;
      output.name = got.name + suffix;
      output.dtype = name(got.value.dtype);
      output.shape = got.value.shape;
      output.bound = truth->bound;
      output.comparison = want ? compare_observations(got.value, cast(*want, got.value.dtype), *truth) : compare_output(got.value, *truth);
      output.repeat_bitwise = !want || twin_.twin->kind != TwinKind::repeat || got.value.bytes == want->bytes;
      output.repeat = output.repeat_bitwise ? 0 : output.comparison.required[static_cast<std::size_t>(output.bound)];
      record_.outputs.push_back(std::move(output));
    }
  }

  // An in-place comparison stores its bools in self's dtype.
  static Buffer cast(const Buffer& value, DType dtype) {
    return value.dtype == dtype ? value : to_buffer(to_tensor(value).to(torch_dtype(dtype)));
  }

  const Case twin_;
  Subject* subject_;
  const Executor& executor_;
  std::unique_ptr<Subject> own_;
  CaseRecord record_;
  std::vector<std::int64_t> in_use_;                    // bytes, after each call
};

}  // namespace

Subject::Subject(Prepared ready) : prepared(std::move(ready)) {
  plain.stage.clear();
  inputs = device_inputs(prepared);
  maker = std::make_unique<ReferenceMaker>(prepared);
  reference = maker->make();
}

const Observation& Subject::run_plain(const Executor& executor) {
  if (plain.stage.empty()) plain = executor.run(prepared, inputs, maker->upstream());
  return plain;
}

std::array<std::vector<at::Tensor>, 2> rows_apart(const std::vector<at::Tensor>& operands) {
  const std::int64_t rows = operands.at(0).size(0);
  std::array<std::vector<at::Tensor>, 2> apart;
  for (const at::Tensor& operand : operands) {
    const bool has_rows = operand.dim() > 0 && operand.size(0) == rows;
    apart[0].push_back(has_rows ? operand.narrow(0, 0, 1).contiguous() : operand);
    apart[1].push_back(has_rows ? operand.narrow(0, 1, rows - 1).contiguous() : operand);
  }
  return apart;
}

CaseRecord run_twin(const Case& twin, Subject& subject, const Executor& executor) {
  return TwinRun(twin, subject, executor).run();
}

}  // namespace driftgate
