#pragma once
// Faults of the simulated device, as a fault file plants them: which operator, when, and what goes wrong.
//
//   {"faults": [{"name": "…", "op": "aten::mm*|aten::bmm*", "when": {…}, "effect": {"kind": "…", …}, "id": "", "class": "", "note": ""}]}
//
// docs/schema/faults.schema.json lists every key. Unknown keys, kinds and words are Errors that name file and key.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "json.hpp"
#include "tensor/dtype.hpp"

namespace driftgate {

enum class OperandLayout : std::uint8_t { noncontiguous, contiguous, stepped, offset, expanded, channels_last, any };
enum class Relation : std::uint8_t { square, rows_lt_cols, broadcast };
enum class ValueRule : std::uint8_t { any_nan, any_inf, any_subnormal, any_negative_zero, any_negative, all_equal, any_above };

struct SizeRule {
  enum class Kind : std::uint8_t { at_least, at_most, equals, not_divisible } kind = Kind::at_least;
  std::int64_t dim = 0, size = 0;                       // a negative dim counts from the end
};

// All that is given must hold. The operand is the tensor at schema position `arg`, else the first tensor of the call.
struct When {
  std::optional<std::int64_t> arg;
  std::vector<DType> dtypes;
  std::optional<OperandLayout> layout;
  std::optional<std::int64_t> ndim_at_least, ndim_equals, min_numel;
  std::vector<SizeRule> sizes;
  std::optional<Relation> relation;
  std::optional<bool> absent;
  std::optional<ValueRule> value;
  double above = 0;                                     // of any_above
  std::optional<bool> mixed_dtype, inplace, grad_mode, new_shape;
  bool on_cpu = false;                                  // arg_device
  std::string inside, after_op;                         // globs; empty: anywhere
  std::string attribute;                                // name of a non-tensor argument
  Json attribute_equals;                                // a scalar, a list, or "nondefault"
  std::optional<std::int64_t> nth, every;               // of the calls for which all else holds, from 1

  bool stateful() const { return new_shape || nth || every || !after_op.empty(); }
};

enum class EffectKind : std::uint8_t {
  ignore_strides, ignore_offset, write_lost, write_outside, scale, add_ulps, round_inputs, round_output, truncate_output, accumulate_in,
  drop_last_term, zero_output, nan_output, stale_output, wrong_element, transpose_output, swap_top2, nan_to_zero, zero_to_nan,
  flush_subnormals, ignore_argument, wrong_cast, int_wrap, reuse_first_result, read_uninitialized, nondeterministic, no_reseed,
  same_samples, no_error_on_bad_index, no_error_on_bad_argument, wrong_shape, raise, abort, hang, cpu_fallback, leak
};

struct Effect {
  EffectKind kind = EffectKind::raise;
  std::optional<std::int64_t> output;                   // which output; all of them without it
  double by = 1;                                        // scale
  std::int64_t amount = 0;                              // ulps, bits, bytes or index
  bool from_index = false;                              // wrong_element: this index and all behind it
  DType dtype = DType::f32;                             // accumulate_in
  std::string argument;                                 // ignore_argument
};

struct Fault {
  std::string name, op;                                 // op: globs joined by '|'
  When when;
  Effect effect;
  std::string id, klass, note;
};

std::string_view name(EffectKind kind);
std::vector<Fault> parse_faults(const Json& document, const std::string& where);   // Error; `duplicate_fault` for a name given twice
std::vector<Fault> read_faults(const std::filesystem::path& file);
bool any_glob_matches(std::string_view globs, std::string_view text);              // globs joined by '|'

}  // namespace driftgate
