#pragma once
// One sound spec with every key, and what must be refused: shared by the tests of the reader and of the schema.
#include <string>
#include <vector>

#include "json.hpp"

namespace driftgate {

inline constexpr const char* kSoundSpec = R"spec({"schema": "driftgate.spec/1", "rows": [
  {"family": "softmax", "ops": ["aten::softmax.int", "aten::_log_softmax"], "bound": {"forward": "general", "backward": "linear"},
   "policies": ["fp32", "amp_bf16"], "directions": ["backward", "forward"], "grad": ["self"],
   "terms": 9, "square_weight": "1/terms",
   "allow": {"constant": 10, "extent_max": 4, "why": "a polynomial"}, "allow_backward": {"abs_g": 0.5, "why": "fast division"},
   "signed_zero": true, "as_it_is": ["scale"], "indices": "gather", "repeat": "within_limit", "smoke": true, "why": "the exponentials",
   "cases": {
     "wide": {"self": {"shape": [32, 256], "fill": "normal(scale=30)", "dtype": "i64", "why": "large"}, "dim": -1, "why": "shift"},
     "odd_1": {"self": {"shape": [7], "fill": "values", "values": [1, -0.0, "nan", "inf", "-inf"]},
               "LU": [{"shape": [], "fill": "normal"}, {"shape": [2, 0], "fill": "uniform(low=-1.5, high=2e3)"}],
               "p": "inf", "size": [2, 3], "empty": [], "none": null, "flag": true,
               "terms": {"result": 3, "self": 1.5}, "square_weight": 0.25, "policies": ["fp16"]}}},
  {"family": "copy", "ops": ["aten::clone"], "bound": "exact", "policies": ["bf16"], "directions": ["forward"],
   "cases": {"plain": {"self": {"shape": [3], "fill": "normal"}, "raises": true, "tier": "full"}}},
  {"family": "random", "ops": ["aten::uniform_"], "bound": "statistical", "policies": ["fp32"], "directions": ["forward"],
   "cases": {"unit": {"self": {"shape": [3], "fill": "constant"}, "statistical": {"law": "uniform", "low": 0, "high": 1}}}},
  {"family": "models", "ops": ["model::mlp"], "bound": "ratio", "policies": ["amp_fp16"], "directions": ["forward", "backward"],
   "cases": {"train": {"batch": 8, "step": "sgd"}}}]})spec";

// The sound spec with one value replaced, added, or (empty text) removed.
struct Hostile {
  const char* pointer;                      // "/rows/0/ops/1"
  const char* text;
  const char* error;
  bool seen_by_schema = true;

  Json document() const {
    Json document = parse_json(kSoundSpec, "sound");
    const Json::json_pointer at(pointer);
    if (*text != '\0') document[at] = parse_json(text, pointer);
    else document.at(at.parent_pointer()).erase(at.back());
    return document;
  }

  std::string key_path() const {            // "rows[0].ops[1]"
    std::string path;
    for (Json::json_pointer at(pointer); !at.empty(); at.pop_back()) {
      const std::string& part = at.back();
      const bool index = part.find_first_not_of("0123456789") == std::string::npos;
      path = (index ? "[" + part + "]" : "." + part) + path;
    }
    return path.substr(1);
  }
};

inline const std::vector<Hostile> kHostile = {
    {"/schema", R"("driftgate.spec/2")", "wrong_schema"},
    {"/schema", "", "missing_key"},
    {"/comment", R"("x")", "unknown_key"},
    {"/rows", "[]", "empty_list"},
    {"/rows", "{}", "wrong_type"},
    {"/rows", "", "missing_key"},
    {"/rows/0", "7", "wrong_type"},
    {"/rows/0/familiy", R"("x")", "unknown_key"},
    {"/rows/0/family", "", "missing_key"},
    {"/rows/0/family", R"("Soft max")", "bad_name"},
    {"/rows/0/family", R"("")", "bad_name"},
    {"/rows/0/ops", "", "missing_key"},
    {"/rows/0/ops", "[]", "empty_list"},
    {"/rows/0/ops", R"("aten::add")", "wrong_type"},
    {"/rows/0/ops/0", R"("softmax.int")", "bad_op"},
    {"/rows/0/ops/0", R"("prims::add")", "bad_op"},
    {"/rows/0/ops/0", R"("aten::")", "bad_op"},
    {"/rows/0/ops/0", R"("aten::softmax.")", "bad_op"},
    {"/rows/0/ops/0", R"("aten::a.b.c")", "bad_op"},
    {"/rows/0/ops/0", R"("aten::soft-max")", "bad_op"},
    {"/rows/0/ops/1", R"("aten::softmax.int")", "duplicate_value"},
    {"/rows/0/bound", "", "missing_key"},
    {"/rows/0/bound", R"("ratio")", "bad_value", false},
    {"/rows/0/bound", R"("best")", "bad_bound"},
    {"/rows/3/bound", R"("general")", "bad_value", false},
    {"/rows/3/ops/0", R"("model::MLP")", "bad_op"},
    {"/rows/3/ops/0", R"("model::mlp.out")", "bad_op"},
    {"/rows/3/ops/1", R"("training::mlp")", "bad_op", false},
    {"/rows/3/cases/train/x", R"({"shape": [1], "fill": "normal"})", "wrong_type", false},
    {"/rows/0/bound", "1", "wrong_type"},
    {"/rows/0/bound/backward", "", "missing_key"},
    {"/rows/0/bound/forward", R"("loose")", "bad_bound"},
    {"/rows/0/bound/sideways", R"("exact")", "unknown_key"},
    {"/rows/0/policies", "", "missing_key"},
    {"/rows/0/policies", "[]", "empty_list"},
    {"/rows/0/policies/0", R"("fp64")", "bad_policy"},
    {"/rows/0/policies/1", R"("fp32")", "duplicate_value"},
    {"/rows/0/directions", "", "missing_key"},
    {"/rows/0/directions", "[]", "empty_list"},
    {"/rows/0/directions/0", R"("up")", "bad_direction"},
    {"/rows/0/grad", "[]", "empty_list"},
    {"/rows/0/grad", R"(["slef"])", "unknown_argument", false},
    {"/rows/0/grad", R"(["dim"])", "unknown_argument", false},
    {"/rows/0/terms", R"("twos")", "bad_value"},
    {"/rows/0/terms", "0", "bad_value"},
    {"/rows/0/terms", "[9]", "bad_value"},
    {"/rows/0/terms", "{}", "empty_list"},
    {"/rows/0/cases/odd_1/terms/result", "-1", "bad_value"},
    {"/rows/0/cases/odd_1/terms/a b", "1", "bad_name"},
    {"/rows/0/square_weight", "0", "bad_value"},
    {"/rows/0/square_weight", R"("nan")", "wrong_type"},
    {"/rows/0/allow/abs_y", "1", "unknown_key"},
    {"/rows/0/allow/constant", "-10", "bad_value"},
    {"/rows/0/allow/constant", R"("inf")", "wrong_type"},
    {"/rows/0/allow/why", "", "missing_key"},
    {"/rows/0/allow/why", R"("")", "bad_value"},
    {"/rows/0/allow_backward", R"({"why": "nothing"})", "empty_list"},
    {"/rows/0/signed_zero", R"("yes")", "wrong_type"},
    {"/rows/0/indices", R"("scatter")", "bad_value"},
    {"/rows/0/repeat", R"("sometimes")", "bad_value"},
    {"/rows/0/smoke", "1", "wrong_type"},
    {"/rows/0/as_it_is", R"("scale")", "wrong_type"},
    {"/rows/1/cases/plain/raises", "false", "bad_value"},
    {"/rows/1/cases/plain/tier", R"("huge")", "bad_tier"},
    {"/rows/1/cases/plain/statistical", R"({"law": "uniform"})", "bad_value", false},
    {"/rows/2/cases/unit/statistical", "", "bad_value", false},
    {"/rows/2/cases/unit/statistical/law", R"("gauss")", "bad_law"},
    {"/rows/2/cases/unit/statistical/mean", "1", "unknown_key", false},
    {"/rows/2/cases/unit/statistical/high", "0", "bad_value", false},
    {"/rows/2/directions", R"(["forward", "backward"])", "bad_value", false},
    {"/rows/0/why", R"("")", "bad_value"},
    {"/rows/0/cases", "", "missing_key"},
    {"/rows/0/cases", "{}", "empty_list"},
    {"/rows/0/cases/Wide", R"({"dim": 1})", "bad_name"},
    {"/rows/0/cases/wide", "[]", "wrong_type"},
    {"/rows/0/cases/wide", "{}", "empty_list"},
    {"/rows/0/cases/wide", R"({"why": "no argument at all"})", "empty_list"},
    {"/rows/0/cases/wide/se-lf", "1", "bad_name"},
    {"/rows/0/cases/wide/why", "7", "wrong_type"},
    {"/rows/0/cases/odd_1/policies", "[]", "empty_list"},
    {"/rows/0/cases/odd_1/policies/0", R"("half")", "bad_policy"},
    {"/rows/0/cases/wide/self/shape", "", "missing_key"},
    {"/rows/0/cases/wide/self/shape", "32", "wrong_type"},
    {"/rows/0/cases/wide/self/shape/0", "-1", "bad_shape"},
    {"/rows/0/cases/wide/self/shape/0", "2.5", "wrong_type"},
    {"/rows/0/cases/wide/self/shape/0", "18446744073709551615", "bad_shape"},
    {"/rows/0/cases/wide/self/shape", "[2147483649]", "bad_shape"},
    {"/rows/0/cases/wide/self/shape", "[65536, 65536]", "bad_shape", false},
    {"/rows/0/cases/wide/self/shape", "[2147483648, 2147483648, 4]", "bad_shape", false},
    {"/rows/0/cases/wide/self/shape", "[0, 65536, 65536]", "bad_shape", false},
    {"/rows/0/cases/wide/self/fill", "", "missing_key"},
    {"/rows/0/cases/wide/self/fill", "3", "wrong_type"},
    {"/rows/0/cases/wide/self/fill", R"("gauss")", "bad_fill"},
    {"/rows/0/cases/wide/self/fill", R"x("normal(sigma=1)")x", "bad_fill"},
    {"/rows/0/cases/wide/self/fill", R"x("normal(scale=e)")x", "bad_fill"},
    {"/rows/0/cases/wide/self/fill", R"x("normal(scale=)")x", "bad_fill"},
    {"/rows/0/cases/wide/self/fill", R"x("normal(scale=1")x", "bad_fill"},
    {"/rows/0/cases/wide/self/fill", R"x("uniform(low=2, high=1)")x", "bad_fill", false},
    {"/rows/0/cases/wide/self/dtype", R"("int64")", "bad_dtype"},
    {"/rows/0/cases/wide/self/stride", "[1]", "unknown_key"},
    {"/rows/0/cases/wide/self/values", "[1]", "bad_value"},
    {"/rows/0/cases/odd_1/self/values", "", "bad_value"},
    {"/rows/0/cases/odd_1/self/values", "[]", "empty_list"},
    {"/rows/0/cases/odd_1/self/values/0", R"("one")", "wrong_type"},
    {"/rows/0/cases/odd_1/LU/1", "3", "wrong_type"},
    {"/rows/0/cases/odd_1/LU/0", "null", "wrong_type"},
    {"/rows/0/cases/odd_1/LU/0/fill", "", "missing_key"},
};

}  // namespace driftgate
