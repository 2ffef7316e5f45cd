#pragma once
// The law of the samples that a random operator draws, written {"law": "normal", "mean": 2, "scale": 3} in a spec.
//
//   uniform(low=0, high=1)      on [low, high)                 integers(low=0, high=1)   whole numbers, both ends included
//   normal(mean=0, scale=1)                                    bernoulli(p=0.5, value=1) 0, or value with probability p
//   exponential(rate=1)                                        geometric(p=0.5)          1, 2, …: trials until the first success
//   cauchy(mean=0, scale=1)     mean is the median             poisson(rate=1)           0, 1, …
//   log_normal(mean=0, scale=1) of the logarithm               permutation(count=1)      0 .. count - 1, each of them once
//   erlang(shape=1)             gamma of whole shape, scale 1
//   categorical                 0, 1, … by "weights": [1, 2, …], which need not sum to 1
#include <string>
#include <vector>

#include "json.hpp"

namespace driftgate {

class Law {
 public:
  // Error `unknown_key`, `bad_law`, `bad_value` naming the key.
  static Law parse(const Json& value, const std::string& where);

  const std::string& name() const { return name_; }
  bool discrete() const { return !atoms_.empty(); }
  bool without_repetition() const { return name_ == "permutation"; }
  bool possible(double x) const;                        // finite and in the domain
  double below(double x) const;                         // P(X < x)
  double up_to(double x) const;                         // P(X <= x)

 private:
  double continuous(double x) const;
  void tabulate(const std::vector<double>& weights);    // atoms_ and sums_, for a discrete law

  std::string name_;
  double first_ = 0, second_ = 0;                       // the parameters, in the order above
  std::vector<double> atoms_, sums_;                    // discrete: values, and P(X <= value)
};

}  // namespace driftgate
