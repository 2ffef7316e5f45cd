#pragma once
// Specs: rows of data under tests/cases/ that expand into cases. Schema: docs/schema/spec.schema.json.
//
//   {"schema": "driftgate.spec/1", "rows": [
//     {"family": "softmax", "ops": ["aten::softmax.int", "aten::log_softmax.int"],
//      "bound": "general",                       one bound, or {"forward": "exact", "backward": "linear"}
//      "policies": ["fp32", "fp16", "bf16"], "directions": ["forward", "backward"],
//      "cases": {"wide": {"self": {"shape": [32, 256], "fill": "normal(scale=30)"}, "dim": -1, "why": "the max shift"}}}]}
//
// A row applies every case to every op. Arguments are named as in the op's schema; a tensor is an object with `shape` and
// `fill` (and `dtype`, where it is not the policy's), a list of tensors an array of such objects; anything else is a JSON value
// that is converted by the schema's type. Optional keys of a row:
//   "grad": ["self"]              the arguments differentiated (default: every floating tensor of the policy's dtype)
//   "terms": "ones" | 9 | {"result": 9, "self": 1, …}
//                                 K of the linear family: the op applied to ones, or a number; per output (gradients by the
//                                 argument's name). Default "ones"
//   "square_weight": 0.25         factor on op(x²) where the op's weights are not 0 or 1 (mean of K: 1/K). Default 1.
//                                 "1/terms" stands for the reciprocal of a numeric `terms`
//   "allow", "allow_backward": {"constant": 10, "abs_x": 8, "inverse_x": 1, "abs_g": 8, "abs_xg": 1, "extent_max": 4, "why": "…"}
//                                 an absolute allowance in units of u = 2^-24, a sum of terms: constant; |x|; 1/|x|; |g|; |x·g|;
//                                 max(H, W) * max|x|. x is the first tensor argument, g the upstream gradient
//   "signed_zero": true           exact family: -0 and +0 differ (copy, neg, abs, copysign)
//   "indices": "gather"           the integer output is compared by gather(self, dim, indices): ties may be ordered freely
//   "repeat": "within_limit"      two runs may differ in bits (atomics) but not by more than the limit; default "bitwise"
//   "inert": ["bias"]             tensor arguments that must not change the result (an operand under beta = 0)
//   "no_twins": ["nll_loss2d/*/backward/permuted_self"]   globs of op/set/direction/twin: what the operator does not take, by contract or by an
//                                 error of its own on the CPU
//   "host": ["src"]               tensor arguments that stay in the host's memory: uploads, downloads, scalars
//   "cudnn": false                CUDA runs it without cuDNN, whose recurrent kernels are too far from fp64 to prove anything
//   "as_it_is": ["inv_scale"]     tensor arguments that the operator wants in their own dtype: the reference does not widen them
//   "smoke": true                 its first case belongs to the smoke tier
//   "why": "…"
// The namespace of the ops says the level of the row: `aten::` is an operator, `model::`, `training::` and `preprocess::` name programs
// (models/program.hpp). The arguments of a program are plain values, its settings; it declares its tensors itself and has no twins. The
// bounds "ratio", "ensemble" and "levels" belong to programs.
// Inside one case, the keys "why", "terms", "square_weight" and "policies" override the row's. Three more belong to a case alone:
//   "raises": true                the call must raise an error, on the device as in the reference; there are no outputs
//   "tier": "full"                runs only when that tier is asked for: "full" (slow), "large" (past 2^31 elements)
//   "statistical": {"law": "uniform", "low": 0, "high": 1}
//                                 the law of the samples (compare/statistics.hpp), of the bound "statistical", which needs it
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "case/fill.hpp"
#include "case/law.hpp"
#include "json.hpp"

namespace driftgate {

enum class Policy : std::uint8_t { fp32, fp16, bf16, amp_fp16, amp_bf16 };
enum class Direction : std::uint8_t { forward, backward };
enum class SuiteTier : std::uint8_t { smoke, standard, full, large };         // each holds the ones before it
enum class SuiteLevel : std::uint8_t { op, model, training, preprocess };    // what a case runs: an operator, or a program
enum class Bound : std::uint8_t { exact, pointwise, linear, general, statistical, ratio, ensemble, levels };
inline constexpr int kBounds = 8;
inline constexpr int kPolicies = 5;

std::string_view name(Policy policy);
std::string_view name(Direction direction);
std::string_view name(Bound bound);
std::string_view name(SuiteTier tier);
std::string_view name(SuiteLevel level);
SuiteLevel parse_suite_level(std::string_view text, const std::string& where); // Error `bad_level`
std::optional<SuiteLevel> level_of(std::string_view op);                     // by the namespace of "model::mlp"
SuiteTier parse_suite_tier(std::string_view text, const std::string& where); // Error `bad_tier`
Policy parse_policy(std::string_view text, const std::string& where);        // Error `bad_policy`
Direction parse_direction(std::string_view text, const std::string& where);
Bound parse_bound(std::string_view text, const std::string& where);
DType dtype_of(Policy policy);                                               // of the policy's inputs (amp: f32)
DType computed_dtype(Policy policy);                                         // of what it computes products in (amp: the half type)
bool is_amp(Policy policy);

struct TensorArgument {
  Shape shape;
  Fill fill;
  std::optional<DType> dtype;                                                // nullopt: the policy's
};
using Argument = std::variant<Json, TensorArgument, std::vector<TensorArgument>>;

// K of the linear family for one output: a number, or "the op applied to ones".
struct Terms {
  std::map<std::string, double> by_output;                                   // absent: ones
  std::optional<double> for_all;
  std::optional<double> of(const std::string& output) const;                 // nullopt: apply the op to ones
};

struct Allowance {                                                           // in units of u = 2^-24
  double constant = 0, abs_x = 0, inverse_x = 0, abs_g = 0, abs_xg = 0, extent_max = 0;
  std::string why;
  bool any() const { return constant || abs_x || inverse_x || abs_g || abs_xg || extent_max; }
};

struct ArgumentSet {
  std::string name;                                                          // [a-z0-9_]+
  std::vector<std::pair<std::string, Argument>> arguments;                   // in the order of the file
  std::string why;
  Terms terms;
  double square_weight = 1;
  std::vector<Policy> policies;
  SuiteTier tier = SuiteTier::standard;
  bool raises = false;
  std::optional<Law> law;                                                    // of a statistical case
};

struct Row {
  std::string family;
  std::vector<std::string> ops;                                              // "aten::softmax.int", "model::mlp": all of one level
  std::vector<std::string> names;                                            // of the ops in ids: "softmax.int", "model.mlp"; the suite fills them in
  Bound bound_forward = Bound::general, bound_backward = Bound::general;
  std::vector<Direction> directions;
  std::optional<std::vector<std::string>> grad;
  std::vector<std::string> inert;                                            // arguments that must not matter
  std::vector<std::string> no_twins;
  std::vector<std::string> as_it_is;                                         // arguments that the reference does not widen
  std::vector<std::string> host;                                             // arguments that stay on the CPU
  bool cudnn = true;
  Allowance allow, allow_backward;
  bool signed_zero = false, gather_indices = false, repeat_bitwise = true, smoke = false;
  std::string why;
  std::string file;                                                          // for messages
  std::vector<ArgumentSet> cases;

  SuiteLevel level() const { return level_of(ops.front()).value_or(SuiteLevel::op); }
  Bound bound(Direction direction) const { return direction == Direction::forward ? bound_forward : bound_backward; }
};

// Every *.json under `directory`, in the order of their names. Error for any malformed row, naming file and key.
std::vector<Row> read_specs(const std::filesystem::path& directory);
std::vector<Row> parse_specs(const Json& document, const std::string& where);

}  // namespace driftgate
