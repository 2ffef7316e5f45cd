#include "run/pair.hpp"

#include <algorithm>

#include "error.hpp"
#include "run/reference.hpp"

namespace driftgate {
namespace {

// The fp64 result alone: no sensitivities.
Observation plain_result(const Case& c) {
  const Prepared prepared = prepare(c);
  ReferenceMaker maker(prepared);
  return maker.evaluate([](std::size_t, std::size_t, double value) { return value; });
}

bool same(const Observation& a, const Observation& b) {
  if (a.outputs.size() != b.outputs.size()) return false;
  for (std::size_t i = 0; i < a.outputs.size(); ++i)
    if (a.outputs[i].value.shape != b.outputs[i].value.shape || a.outputs[i].value.bytes != b.outputs[i].value.bytes) return false;
  return true;
}

}  // namespace

std::vector<Json> other_values(const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer()) {
    const auto n = value.get<std::int64_t>();
    return {n + 1, n - 1, n == 0 ? 2 : 0};
  }
  if (value.is_number_float()) return {value.get<double>() * 0.5 + 0.25, 0.5};
  if (!value.is_array() || value.empty() || !value[0].is_number()) return {};
  Json reversed = value, moved = value, first_moved = value;
  std::reverse(reversed.begin(), reversed.end());
  for (Json& item : moved) item = other_values(item).front();
  first_moved[0] = other_values(first_moved[0]).front();
  std::vector<Json> others = {moved, first_moved};
  if (reversed != value) others.insert(others.begin(), reversed);
  return others;
}

std::vector<std::string> alterable(const ArgumentSet& set) {
  std::vector<std::string> names;
  for (const auto& [name, argument] : set.arguments)
    if (const auto* value = std::get_if<Json>(&argument); value && !other_values(*value).empty()) names.push_back(name);
  return names;
}

AlteredCase::AlteredCase(const Case& plain, const std::string& argument) : arguments_(*plain.arguments), case_(plain) {
  case_.arguments = &arguments_;
  const auto altered = std::find_if(arguments_.arguments.begin(), arguments_.arguments.end(), [&](const auto& pair) { return pair.first == argument; });
  if (altered == arguments_.arguments.end() || !std::holds_alternative<Json>(altered->second))
    throw Error("bad_twin", plain.id(), "there is no plain argument '" + argument + "'");
  const Observation before = plain_result(plain);
  for (const Json& value : other_values(std::get<Json>(altered->second))) {
    altered->second = value;
    try {
      const Observation after = plain_result(case_);
      if (after.stage == "done" && !same(before, after)) return;
    } catch (const Error&) {
      continue;                                         // the schema does not take this value
    }
  }
  throw Error("bad_twin", plain.id(), "no other value of '" + argument + "' gives another result", "make the forms again with `driftgate docs --forms`");
}

}  // namespace driftgate
