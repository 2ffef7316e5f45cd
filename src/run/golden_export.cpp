#include "run/golden_export.hpp"

#include <algorithm>
#include <set>

#include "error.hpp"
#include "run/runnable.hpp"
#include "run/runner.hpp"

namespace driftgate {
namespace {

std::vector<double> sampled_doubles(const ReferenceOutput& reference, const std::vector<std::int64_t>& positions) {
  const std::size_t per = is_complex(reference.value.dtype) ? 2 : 1;
  std::vector<double> doubles;
  for (const std::size_t p : double_positions(positions.size()))
    for (std::size_t k = 0; k < per; ++k) doubles.push_back(reference.values[static_cast<std::size_t>(positions[p]) * per + k]);
  return doubles;
}

GoldenOutput make_output(const Buffer& value, const ReferenceOutput& reference) {
  GoldenOutput output;
  output.name = reference.name;
  output.shape = value.shape;
  output.digest = hex(digest(value));
  const std::vector<std::int64_t> positions = sample_positions(value.shape);
  output.sample = take(value, positions);
  output.required = compare_output(value, reference).required[static_cast<std::size_t>(reference.bound)];
  if (!reference.integral()) output.doubles = sampled_doubles(reference, positions);
  return output;
}

void add_tf32(GoldenOutput& output, const Buffer& value, const ReferenceOutput& reference) {
  const Buffer sample = take(value, sample_positions(value.shape));
  if (sample.bytes == output.sample.bytes) return;
  output.tf32 = sample;
  output.tf32_required = compare_output(value, reference).required[static_cast<std::size_t>(reference.bound)];
}

bool fits(const Observation& observation, const Reference& reference) {
  if (observation.stage != "done" || observation.outputs.size() != reference.outputs.size()) return false;
  for (std::size_t i = 0; i < reference.outputs.size(); ++i)
    if (observation.outputs[i].name != reference.outputs[i].name || observation.outputs[i].value.shape != reference.outputs[i].value.shape) return false;
  return true;
}

}  // namespace

GoldenExport make_goldens(Device device, const std::vector<Case>& cases, const Progress& progress) {
  GoldenExport made;
  for (std::size_t n = 0; n < cases.size(); ++n) {
    progress(n, cases.size());
    const Case& c = cases[n];
    if (std::string why = not_installed(c); !why.empty()) {
      made.unsupported[c.id()] = std::move(why);
      continue;
    }
    const std::unique_ptr<Runnable> runnable = make_runnable(c);
    const Reference reference = runnable->reference();
    if (!reference.ok) {
      made.unsupported[c.id()] = "no_reference: " + reference.message;
      continue;
    }
    const Observation first = runnable->run(device);
    if (!fits(first, reference)) {
      made.unsupported[c.id()] = first.stage == "done" ? "outputs do not fit the reference's" : first.stage + ": " + first.message;
      continue;
    }
    const Observation second = runnable->run(device);
    GoldenCase golden;
    golden.input_digest = hex(runnable->digest());
    for (std::size_t i = 0; i < reference.outputs.size(); ++i) {
      GoldenOutput output = make_output(first.outputs[i].value, reference.outputs[i]);
      output.spread = fits(second, reference) ? distance(second.outputs[i].value, first.outputs[i].value, reference.outputs[i])
                                              : std::numeric_limits<double>::infinity();
      output.spread_bitwise = fits(second, reference) && second.outputs[i].value.bytes == first.outputs[i].value.bytes;
      golden.outputs.push_back(std::move(output));
    }
    if (c.policy == Policy::fp32) {
      set_numeric_flags(true);
      const Observation tf32 = runnable->run(device);
      set_numeric_flags(false);
      if (fits(tf32, reference))
        for (std::size_t i = 0; i < reference.outputs.size(); ++i)
          if (!reference.outputs[i].integral()) add_tf32(golden.outputs[i], tf32.outputs[i].value, reference.outputs[i]);
    }
    made.content[c.row->family].emplace(c.id(), std::move(golden));
  }
  return made;
}

std::vector<Repeat> repeat_goldens(Device device, const std::vector<Case>& cases, const GoldenSet& set) {
  std::vector<Repeat> repeats;
  for (const Case& c : cases) {
    const GoldenCase* golden = set.find(c.row->family, c.id());
    if (!golden) continue;
    const std::unique_ptr<Runnable> runnable = make_runnable(c);
    const Reference reference = runnable->reference();
    Repeat repeat{c.id(), {}};
    for (int run = 0; run < 2; ++run) {
      const Observation again = runnable->run(device);
      for (std::size_t i = 0; i < golden->outputs.size(); ++i) {
        const GoldenOutput& stored = golden->outputs[i];
        double away = std::numeric_limits<double>::infinity();
        if (fits(again, reference))
          away = hex(digest(again.outputs[i].value)) == stored.digest ? 0 : compare_golden(stored, again.outputs[i].value, reference.outputs[i]).direct;
        double& spread = repeat.spread[stored.name];
        spread = std::max(spread, away);
      }
    }
    repeats.push_back(std::move(repeat));
  }
  return repeats;
}

void add_repeats(GoldenContent& content, const std::vector<Repeat>& repeats) {
  std::map<std::string, const Repeat*> by_id;
  for (const Repeat& repeat : repeats) by_id[repeat.id] = &repeat;
  for (auto& [family, cases] : content)
    for (auto& [id, golden] : cases) {
      const auto repeat = by_id.find(id);
      if (repeat == by_id.end()) throw Error("bad_golden", id, "the second process did not repeat this case", "export again");
      for (GoldenOutput& output : golden.outputs) {
        const double spread = repeat->second->spread.at(output.name);
        output.spread_bitwise = output.spread_bitwise && spread == 0;
        output.spread = std::max(output.spread, spread);
      }
    }
}

GoldenDifference difference(const GoldenSet& first, const GoldenSet& second) {
  GoldenDifference found;
  std::set<std::string> families;
  for (const GoldenSet* set : {&first, &second})
    for (const std::string& family : set->families()) families.insert(family);
  for (const std::string& family : families) {
    const auto& a = first.family(family);
    const auto& b = second.family(family);
    for (const auto& [id, golden] : a) {
      const auto other = b.find(id);
      if (other == b.end()) {
        found.only_first.push_back(id);
        continue;
      }
      const auto& x = golden.outputs;
      const auto& y = other->second.outputs;
      bool same = golden.input_digest == other->second.input_digest && x.size() == y.size();
      for (std::size_t i = 0; same && i < x.size(); ++i) same = x[i].digest == y[i].digest && x[i].name == y[i].name;
      if (!same) found.moved.push_back(id);
    }
    for (const auto& [id, golden] : b)
      if (!a.count(id)) found.only_second.push_back(id);
  }
  return found;
}

std::vector<std::string> verify(const GoldenSet& set, const std::vector<Case>& cases) {
  std::vector<std::string> problems;
  std::set<std::string> known;
  const Json& unsupported = set.manifest().value("unsupported", Json::object());
  for (const Case& c : cases) {
    const std::string id = c.id();
    known.insert(id);
    if (!not_installed(c).empty()) continue;
    const GoldenCase* golden = set.find(c.row->family, id);
    if (!golden) {
      if (!unsupported.contains(id)) problems.push_back(id + ": no golden");
    } else if (golden->input_digest != hex(make_runnable(c)->digest())) {
      problems.push_back(id + ": the inputs made here differ from the golden's");
    }
  }
  for (const std::string& family : set.families())
    for (const auto& [id, golden] : set.family(family))
      if (!known.count(id)) problems.push_back(id + ": no spec makes this case any more");
  return problems;
}

}  // namespace driftgate
