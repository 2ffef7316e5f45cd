#include "case/fill.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>

#include "case/domains.hpp"
#include "error.hpp"

namespace driftgate {
namespace {

struct Parameter {
  std::string_view name;
  double fallback = 0;
};
struct Domain {
  std::string_view name;
  std::array<Parameter, 2> parameters{};  // those that are not used have no name
};
constexpr std::array<Domain, 15> kDomains = {{{"normal", {{{"mean", 0}, {"scale", 1}}}},
                                              {"uniform", {{{"low", 0}, {"high", 1}}}},
                                              {"binades", {{{"low", -8}, {"high", 8}}}},
                                              {"binades_pos", {{{"low", -8}, {"high", 8}}}},
                                              {"integers", {{{"low", -8}, {"high", 8}}}},
                                              {"halves", {{{"low", -8}, {"high", 8}}}},
                                              {"distinct", {{{"step", 1}}}},
                                              {"permutation"},
                                              {"bernoulli", {{{"p", 0.5}}}},
                                              {"constant", {{{"value", 1}}}},
                                              {"values"},
                                              {"spd"},
                                              {"lower"},
                                              {"well"},
                                              {"causal"}}};

[[noreturn]] void bad_fill(const std::string& where, const std::string& problem) { throw Error("bad_fill", where, problem); }

const Domain& find_domain(std::string_view name, const std::string& where) {
  std::string known;
  for (const Domain& domain : kDomains) {
    if (domain.name == name) return domain;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", domain.name);
  }
  throw Error("bad_fill", where, fmt::format("unknown domain \"{}\"", name), "domains: " + known);
}

void check_names(const Fill& fill, const Domain& domain, const std::string& where) {
  for (const auto& [key, value] : fill.parameters) {
    const auto matches = [&name = key](const Parameter& parameter) { return !name.empty() && parameter.name == name; };
    if (std::none_of(domain.parameters.begin(), domain.parameters.end(), matches)) {
      bad_fill(where, fmt::format("domain \"{}\" has no parameter \"{}\"", domain.name, key));
    }
    if (!std::isfinite(value)) bad_fill(where, fmt::format("parameter \"{}\" of domain \"{}\" is not finite", key, domain.name));
  }
}

bool is_whole(double value) { return std::fabs(value) <= 0x1p52 && std::floor(value) == value; }

// The rule that the parameters break, or nullptr.
const char* broken_rule(std::string_view domain, double first, double second) {
  const auto unless = [](bool holds, const char* rule) { return holds ? nullptr : rule; };
  const bool whole = is_whole(first) && is_whole(second);
  if (domain == "normal") return unless(second > 0, "scale > 0");
  if (domain == "uniform") return unless(first < second && std::isfinite(second - first), "low < high");
  if (domain == "bernoulli") return unless(first >= 0 && first <= 1, "0 <= p <= 1");
  if (domain == "distinct") return unless(first > 0, "step > 0");
  if (domain == "integers") return unless(whole && first <= second && second - first < 0x1p32, "whole low <= high, less than 2^32 apart");
  if (domain == "halves") return unless(whole && first < second && second - first < 0x1p32, "whole low < high, less than 2^32 apart");
  if (domain == "binades" || domain == "binades_pos") {
    return unless(whole && first <= second && first >= -1022 && second <= 1023, "whole low <= high within -1022 and 1023");
  }
  return nullptr;
}

// The two parameters of a fill that is known to be right.
std::array<double, 2> checked_parameters(const Fill& fill, const std::string& where) {
  const Domain& domain = find_domain(fill.domain, where);
  check_names(fill, domain, where);
  std::array<double, 2> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto given = fill.parameters.find(std::string(domain.parameters[i].name));
    values[i] = given == fill.parameters.end() ? domain.parameters[i].fallback : given->second;
  }
  const char* rule = broken_rule(domain.name, values[0], values[1]);
  if (rule != nullptr) bad_fill(where, fmt::format("domain \"{}\" needs {}", domain.name, rule));
  return values;
}

std::string trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return std::string(text);
}

void parse_parameter(std::string_view text, Fill& fill, const std::string& where) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) bad_fill(where, fmt::format("\"{}\" is not key=number", text));
  const std::string key = trim(text.substr(0, equals)), number = trim(text.substr(equals + 1));
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || end != number.c_str() + number.size()) {
    bad_fill(where, fmt::format("parameter \"{}\" is \"{}\", which is not a number", key, number));
  }
  if (!fill.parameters.emplace(key, value).second) bad_fill(where, fmt::format("parameter \"{}\" is given twice", key));
}

}  // namespace

Fill parse_fill(const std::string& text, const std::string& where) {
  const std::string whole = trim(text);
  const std::size_t open = whole.find('(');
  Fill fill;
  fill.domain = trim(std::string_view(whole).substr(0, open));
  if (open != std::string::npos) {
    if (whole.back() != ')') bad_fill(where, fmt::format("\"{}\" does not end with ')'", text));
    std::string_view rest = std::string_view(whole).substr(open + 1, whole.size() - open - 2);
    for (std::size_t comma = rest.find(','); comma != std::string_view::npos; comma = rest.find(',')) {
      parse_parameter(rest.substr(0, comma), fill, where);
      rest.remove_prefix(comma + 1);
    }
    parse_parameter(rest, fill, where);
  }
  checked_parameters(fill, where);
  return fill;
}

std::string to_string(const Fill& fill) {
  std::string inner;
  for (const auto& [key, value] : fill.parameters) inner += fmt::format("{}{}={}", inner.empty() ? "" : ", ", key, value);
  return inner.empty() ? fill.domain : fill.domain + "(" + inner + ")";
}

Buffer fill_tensor(const Fill& fill, DType dtype, const Shape& shape, const std::string& key) {
  const auto [first, second] = checked_parameters(fill, key);
  const std::size_t count = static_cast<std::size_t>(numel(shape)) * (is_complex(dtype) ? 2 : 1);
  if (fill.domain == "values") {
    if (fill.values.empty() && count > 0) bad_fill(key, "domain \"values\" needs a list of values");
    std::vector<double> components(count);
    for (std::size_t i = 0; i < count; ++i) components[i] = fill.values[i % fill.values.size()];
    return from_doubles(dtype, shape, components);
  }
  const Draws draws(key, 0, Purpose::values);
  return from_doubles(dtype, shape, draw_domain(fill.domain, first, second, draws, shape, count, key));
}

std::vector<double> random_signs(const std::string& key, std::uint32_t stream, std::size_t n) {
  return draw_signs(Draws(key, stream, Purpose::signs), n);
}

}  // namespace driftgate
