#include "case/law.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "error.hpp"

namespace driftgate {
namespace {

constexpr double kRare = 1e-18;                         // atoms beyond this tail are not tabulated
constexpr std::size_t kMostAtoms = std::size_t{1} << 20;

struct Parameter {
  std::string_view name;
  double fallback = 0, least = -std::numeric_limits<double>::max(), most = std::numeric_limits<double>::max();
};
struct Known {
  std::string_view name;
  std::array<Parameter, 2> parameters;
};
constexpr double kTiny = std::numeric_limits<double>::min();
constexpr std::array<Known, 12> kLaws = {{{"uniform", {{{"low", 0}, {"high", 1}}}},
                                          {"normal", {{{"mean", 0}, {"scale", 1, kTiny}}}},
                                          {"exponential", {{{"rate", 1, kTiny}}}},
                                          {"cauchy", {{{"mean", 0}, {"scale", 1, kTiny}}}},
                                          {"log_normal", {{{"mean", 0}, {"scale", 1, kTiny}}}},
                                          {"erlang", {{{"shape", 1, 1, 100}}}},
                                          {"integers", {{{"low", 0}, {"high", 1}}}},
                                          {"bernoulli", {{{"p", 0.5, 0, 1}, {"value", 1, kTiny}}}},
                                          {"geometric", {{{"p", 0.5, 1e-3, 1}}}},
                                          {"poisson", {{{"rate", 1, kTiny, 500}}}},
                                          {"permutation", {{{"count", 1, 1, kMostAtoms}}}},
                                          {"categorical", {}}}};

const Known& find_law(const std::string& name, const std::string& where) {
  for (const Known& known : kLaws)
    if (known.name == name) return known;
  throw Error("bad_law", where, "unknown law '" + name + "'", "see src/case/law.hpp");
}

double normal_cdf(double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); }

// P(X <= x) of the sum of `shape` exponentials: 1 - exp(-x) Σ x^j / j!, j < shape.
double erlang_cdf(double x, double shape) {
  double term = std::exp(-x), sum = 0;
  for (int j = 0; j < shape; ++j, term *= x / j) sum += term;
  return 1 - sum;
}

bool whole(double value) { return std::floor(value) == value; }

}  // namespace

Law Law::parse(const Json& value, const std::string& where) {
  ObjectReader reader(value, where);
  Law law;
  law.name_ = reader.string("law");
  const std::string at = reader.where("law");
  const Known& known = find_law(law.name_, at);
  for (std::size_t i = 0; i < known.parameters.size(); ++i) {
    const Parameter& parameter = known.parameters[i];
    if (parameter.name.empty()) continue;
    const std::string key(parameter.name);
    const double number = reader.real(key, parameter.fallback);
    if (!(number >= parameter.least && number <= parameter.most)) throw Error("bad_value", reader.where(key), "out of range");
    (i == 0 ? law.first_ : law.second_) = number;
  }
  std::vector<double> weights;
  if (law.name_ == "categorical")
    for (const Json& weight : reader.array("weights")) {
      weights.push_back(as_number(weight, reader.where("weights")));
      if (!(weights.back() >= 0 && std::isfinite(weights.back()))) throw Error("bad_value", reader.where("weights"), "a weight is negative or not finite");
    }
  reader.finish();
  const bool ranged = law.name_ == "uniform" || law.name_ == "integers";
  if (ranged && !(law.first_ < law.second_)) throw Error("bad_value", reader.where("high"), "needs low < high");
  const bool counts = law.name_ == "integers" || law.name_ == "permutation" || law.name_ == "erlang";
  if (counts && !(whole(law.first_) && whole(law.second_))) throw Error("bad_value", where, "needs whole numbers");
  if (law.name_ == "integers" && !(law.second_ - law.first_ < kMostAtoms)) throw Error("bad_value", where, "has too many values");
  law.tabulate(weights);
  return law;
}

void Law::tabulate(const std::vector<double>& weights) {
  std::vector<double> chances;
  double value = 0;
  if (name_ == "integers") {
    value = first_;
    chances.assign(static_cast<std::size_t>(second_ - first_ + 1), 1);
  } else if (name_ == "permutation") {
    chances.assign(static_cast<std::size_t>(first_), 1);
  } else if (name_ == "categorical") {
    chances = weights;
  } else if (name_ == "bernoulli") {
    atoms_ = {0, second_};
    sums_ = {1 - first_, 1};
  } else if (name_ == "geometric") {
    value = 1;
    for (double chance = first_; chance > kRare; chance *= 1 - first_) chances.push_back(chance);
  } else if (name_ == "poisson") {
    double chance = std::exp(-first_);
    for (int k = 1; chance > kRare || k <= first_; chance *= first_ / k++) chances.push_back(chance);
  }
  double total = 0, sum = 0;
  for (const double chance : chances) total += chance;
  for (const double chance : chances) {
    atoms_.push_back(value++);
    sums_.push_back((sum += chance) / total);
  }
}

double Law::continuous(double x) const {
  if (name_ == "uniform") return std::clamp((x - first_) / (second_ - first_), 0.0, 1.0);
  if (name_ == "normal") return normal_cdf((x - first_) / second_);
  if (name_ == "cauchy") return 0.5 + std::atan((x - first_) / second_) / std::acos(-1.0);
  if (x <= 0) return 0;
  if (name_ == "exponential") return -std::expm1(-first_ * x);
  if (name_ == "log_normal") return normal_cdf((std::log(x) - first_) / second_);
  return erlang_cdf(x, first_);
}

bool Law::possible(double x) const {
  if (!std::isfinite(x)) return false;
  if (name_ == "uniform") return x >= first_ && x < second_;
  if (name_ == "normal" || name_ == "cauchy") return true;
  if (!discrete()) return x >= 0;
  if (name_ == "geometric" || name_ == "poisson") return whole(x) && x >= atoms_.front();
  const auto atom = std::lower_bound(atoms_.begin(), atoms_.end(), x);
  if (atom == atoms_.end() || *atom != x) return false;
  return up_to(x) > below(x);                           // an atom of weight 0 is never drawn
}

double Law::below(double x) const {
  if (!discrete()) return continuous(x);
  const auto atom = std::lower_bound(atoms_.begin(), atoms_.end(), x);
  return atom == atoms_.begin() ? 0 : sums_[static_cast<std::size_t>(atom - atoms_.begin()) - 1];
}

double Law::up_to(double x) const {
  if (!discrete()) return continuous(x);
  const auto atom = std::upper_bound(atoms_.begin(), atoms_.end(), x);
  return atom == atoms_.begin() ? 0 : sums_[static_cast<std::size_t>(atom - atoms_.begin()) - 1];
}

}  // namespace driftgate
