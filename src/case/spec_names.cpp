#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "case/spec.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

constexpr std::array<std::string_view, kPolicies> kPolicyNames = {"fp32", "fp16", "bf16", "amp_fp16", "amp_bf16"};
constexpr std::array<std::string_view, 2> kDirectionNames = {"forward", "backward"};
constexpr std::array<std::string_view, kBounds> kBoundNames = {"exact", "pointwise", "linear", "general", "statistical", "ratio", "ensemble", "levels"};
constexpr std::array<std::string_view, 4> kLevelNames = {"op", "model", "training", "preprocess"};
constexpr std::array<std::string_view, 4> kNamespaces = {"aten::", "model::", "training::", "preprocess::"};
constexpr std::array<std::string_view, 4> kTierNames = {"smoke", "standard", "full", "large"};

template <class Enum, std::size_t N>
Enum parse(const std::array<std::string_view, N>& names, std::string_view text, const std::string& kind, const std::string& where) {
  for (std::size_t i = 0; i < N; ++i) {
    if (names[i] == text) return static_cast<Enum>(i);
  }
  throw Error("bad_" + kind, where, fmt::format("unknown {} '{}'", kind, text), fmt::format("one of {}", fmt::join(names, ", ")));
}

}  // namespace

std::string_view name(Policy policy) { return kPolicyNames.at(static_cast<std::size_t>(policy)); }
std::string_view name(Direction direction) { return kDirectionNames.at(static_cast<std::size_t>(direction)); }
std::string_view name(Bound bound) { return kBoundNames.at(static_cast<std::size_t>(bound)); }
std::string_view name(SuiteTier tier) { return kTierNames.at(static_cast<std::size_t>(tier)); }

std::string_view name(SuiteLevel level) { return kLevelNames.at(static_cast<std::size_t>(level)); }

std::optional<SuiteLevel> level_of(std::string_view op) {
  for (std::size_t i = 0; i < kNamespaces.size(); ++i) {
    if (op.starts_with(kNamespaces[i])) return static_cast<SuiteLevel>(i);
  }
  return std::nullopt;
}

SuiteLevel parse_suite_level(std::string_view text, const std::string& where) { return parse<SuiteLevel>(kLevelNames, text, "level", where); }

SuiteTier parse_suite_tier(std::string_view text, const std::string& where) {
  return parse<SuiteTier>(kTierNames, text, "tier", where);
}

Policy parse_policy(std::string_view text, const std::string& where) {
  return parse<Policy>(kPolicyNames, text, "policy", where);
}

Direction parse_direction(std::string_view text, const std::string& where) {
  return parse<Direction>(kDirectionNames, text, "direction", where);
}

Bound parse_bound(std::string_view text, const std::string& where) {
  return parse<Bound>(kBoundNames, text, "bound", where);
}

DType dtype_of(Policy policy) {
  switch (policy) {
    case Policy::fp16: return DType::f16;
    case Policy::bf16: return DType::bf16;
    case Policy::fp32:
    case Policy::amp_fp16:
    case Policy::amp_bf16: return DType::f32;
  }
  return DType::f32;
}

DType computed_dtype(Policy policy) {
  if (!is_amp(policy)) return dtype_of(policy);
  return policy == Policy::amp_fp16 ? DType::f16 : DType::bf16;
}

bool is_amp(Policy policy) { return policy == Policy::amp_fp16 || policy == Policy::amp_bf16; }

std::optional<double> Terms::of(const std::string& output) const {
  const auto found = by_output.find(output);
  return found == by_output.end() ? for_all : found->second;
}

}  // namespace driftgate
