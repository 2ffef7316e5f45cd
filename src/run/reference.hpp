#pragma once
// The truth of a case and the units of its error: CPU float64 on inputs already rounded to the case's dtype.
//
// Sensitivity S is the change of the reference when every floating input (the upstream gradient included) moves by one fp32
// rounding, x·(1 ± 2^-24): for the pointwise family the largest change over all sign corners, elsewhere the RMS over 8 draws of
// random signs. Q, of the linear family, is the op applied to the squares of its inputs, K the op applied to ones (or the spec's).
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compare/comparison.hpp"
#include "compare/ensemble.hpp"
#include "device/executor.hpp"

namespace driftgate {

struct ReferenceOutput {
  std::string name;
  Buffer value;                                         // f64, c128, or the integers themselves
  std::vector<double> values;                           // every component of a float output
  Bound bound = Bound::general;
  std::vector<double> sensitivity, squares, terms, allowance;
  double terms_scalar = 0, square_weight = 1;
  std::optional<Ensemble> ensemble;                     // of bound ensemble, from the golden: run/ensemble_case.hpp
  double ensemble_floor = 0;
  double floor = 0;                                     // of bound ratio: run/program_case.hpp
  bool signed_zero = false;
  std::optional<DType> rounded;                         // under autocast: the half type, though a gradient is stored in f32

  Units units() const;
  bool integral() const { return !is_float(value.dtype) && !is_complex(value.dtype); }
};

struct Reference {
  bool ok = false;
  std::string message;                                  // why not
  std::vector<ReferenceOutput> outputs;
  std::vector<std::string> inert;                       // inputs that change nothing
};

// Edits one double of one input; input number `inputs.size() + k` is the upstream gradient of output k.
using Edit = std::function<double(std::size_t input, std::size_t element, double value)>;

class ReferenceMaker {
 public:
  explicit ReferenceMaker(const Prepared& prepared);

  Reference make();
  // The reference on other inputs. Integer inputs stay as they are.
  Observation evaluate(const Edit& edit);
  // The upstream gradient that every device gets: the same values, already rounded to the policy's dtype.
  Upstream upstream();

 private:
  at::Tensor plain_upstream(std::size_t index, const at::Tensor& output);
  Observation evaluate_on(const std::vector<at::Tensor>& inputs, const Edit* edit);
  void add_corner_sensitivity(Reference& reference);
  void add_rms_sensitivity(Reference& reference);
  void add_linear_units(Reference& reference);
  void add_allowance(Reference& reference);
  void find_inert(Reference& reference);
  std::size_t moving_inputs() const;

  const Prepared& prepared_;
  Executor executor_;
  std::vector<at::Tensor> inputs_;                      // widened
  std::vector<at::Tensor> upstream_;                    // by output, made once
};

}  // namespace driftgate
