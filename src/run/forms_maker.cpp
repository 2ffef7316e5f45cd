#include "run/forms_maker.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <span>

#include "error.hpp"
#include "device/torch_types.hpp"
#include "run/pair.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

constexpr double kWrong = 1e5;                           // units: far beyond any limit
constexpr double kSplitGap = 1e-9;                       // relative: two ways of one fp64 sum

struct Question {
  std::string road;
  std::function<bool()> holds;
};

// Appends the roads that hold, and returns how many questions were answered: fewer than all when the process died of the next one.
std::size_t ask_a_child(std::span<const Question> questions, std::vector<std::string>& roads) {
  int ends[2];
  if (::pipe(ends) != 0) throw Error("no_process", "forms", "pipe failed");
  const pid_t child = ::fork();
  if (child < 0) throw Error("no_process", "forms", "fork failed");
  if (child == 0) {
    for (const Question& question : questions) {
      const char answer = question.holds() ? 1 : 0;
      if (::write(ends[1], &answer, 1) != 1) break;
    }
    ::_exit(0);
  }
  ::close(ends[1]);
  std::size_t answered = 0;
  for (char answer = 0; ::read(ends[0], &answer, 1) == 1; ++answered)
    if (answer) roads.push_back(questions[answered].road);
  ::close(ends[0]);
  while (::waitpid(child, nullptr, 0) < 0) {}
  return answered;
}

// Asks in child processes: some kernels crash on arguments that make no sense, which is a no.
std::vector<std::string> roads_that_hold(std::span<const Question> questions) {
  std::vector<std::string> roads;
  for (std::size_t next = 0; next < questions.size(); ++next) next += ask_a_child(questions.subspan(next), roads);
  return roads;
}

// Whether the twin runs on the CPU and agrees with the plain call.
bool works(const Case& c, TwinKind kind, Subject& subject, const Executor& cpu) {
  const Twin twin{kind, "", "probe"};
  Case probe = c;
  probe.twin = &twin;
  try {
    const CaseRecord record = run_twin(probe, subject, cpu);
    if (record.stage != "done" || record.outputs.empty()) return false;
    if (kind == TwinKind::inplace && subject.inputs.at(0).sizes().vec() != record.outputs[0].shape) return false;   // it was resized
    for (const OutputRecord& output : record.outputs)
      if (!(output.comparison.required[static_cast<std::size_t>(output.bound)] <= kWrong)) {
        std::fprintf(stderr, "left out, the CPU itself is wrong: %s, %s\n", c.input_key().c_str(), output.name.c_str());
        return false;
      }
    return true;
  } catch (const Error&) {
    return false;                                        // no such overload
  }
}

bool has_pair(const Case& c, const std::string& argument) {
  try {
    const AlteredCase altered(c, argument);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool close(const Buffer& a, const Buffer& b) {
  if (a.shape != b.shape || a.dtype != b.dtype) return false;
  const std::vector<double> x = to_doubles(a), y = to_doubles(b);
  double largest = 0;
  for (const double value : y) largest = std::max(largest, std::isfinite(value) ? std::fabs(value) : 0);
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i])) && !(std::fabs(x[i] - y[i]) <= kSplitGap * largest)) return false;
  return true;
}

// Whether rows along dim 0 are independent: in fp64, one row and the rest give what the whole gives.
bool splits(Subject& subject) {
  std::vector<at::Tensor> inputs;
  for (const PreparedInput& input : subject.prepared.inputs) inputs.push_back(to_double_tensor(input.buffer));
  if (inputs.empty() || inputs[0].dim() == 0 || inputs[0].size(0) < 2) return false;
  const Executor wide(Device::cpu, true);
  std::vector<std::vector<at::Tensor>> parts(subject.reference.outputs.size());
  for (const std::vector<at::Tensor>& part : rows_apart(inputs)) {
    const Observation seen = wide.run(subject.prepared, part, subject.maker->upstream());
    if (seen.stage != "done" || seen.outputs.size() != parts.size()) return false;
    for (std::size_t o = 0; o < parts.size(); ++o) {
      if (seen.outputs[o].value.shape.empty() || seen.outputs[o].value.shape[0] != part[0].size(0)) return false;
      parts[o].push_back(to_tensor(seen.outputs[o].value));
    }
  }
  for (std::size_t o = 0; o < parts.size(); ++o) {
    const Shape tail(parts[o][0].sizes().begin() + 1, parts[o][0].sizes().end()), other(parts[o][1].sizes().begin() + 1, parts[o][1].sizes().end());
    if (tail != other || !close(to_buffer(at::cat(parts[o], 0)), subject.reference.outputs[o].value)) return false;
  }
  return !parts.empty();
}

}  // namespace

Forms make_forms(const Suite& suite, const Filter& filter) {
  Forms forms;
  const Executor cpu(Device::cpu);
  std::string done;
  suite.for_each(filter, [&](const Case& c) {
    if (c.direction != Direction::forward || c.input_key() == done) return;
    done = c.input_key();
    Subject subject(prepare(c));
    if (!subject.reference.ok || subject.run_plain(cpu).stage != "done") return;
    std::vector<Question> questions = {{"inplace", [&] { return works(c, TwinKind::inplace, subject, cpu); }},
                                       {"out", [&] { return works(c, TwinKind::out, subject, cpu); }},
                                       {"batch", [&] { return splits(subject); }}};
    for (const std::string& argument : alterable(*c.arguments))
      questions.push_back({"pair_" + argument, [&c, argument] { return has_pair(c, argument); }});
    std::vector<std::string> roads = roads_that_hold(questions);
    if (!roads.empty()) forms.emplace(done, std::move(roads));
  });
  return forms;
}

}  // namespace driftgate
