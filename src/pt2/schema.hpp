#pragma once
// Words of torch/_export/serde/schema.py (schema version 8, torch 2.8 to 2.14).
#include <string>
#include <utility>

#include "json.hpp"
#include "pt2/exported.hpp"

namespace driftgate {

inline constexpr std::int64_t kStridedLayout = 7;

DType exported_dtype(std::int64_t number, const std::string& where);             // Error `unsupported_dtype`
// {"as_tensor": {…}}: the one key and its value. Error `wrong_type`.
std::pair<std::string, Json> read_union(const Json& value, const std::string& where);
std::string name_in(const Json& value, const std::string& where);                // of {"name": "x"}
ExportedResult read_result(const Json& value, const std::string& where);
bool is_argument_kind(const std::string& kind);                                  // one that an operator of aten takes
std::string layer_of(const Json& metadata);

}  // namespace driftgate
