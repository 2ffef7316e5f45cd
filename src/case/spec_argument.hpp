#pragma once
// Reading the arguments of one case: the part of the spec reader that knows tensors. `where` is "file: path.to.the.key".
#include <string>
#include <string_view>

#include "case/spec.hpp"

namespace driftgate {

// A tensor, a list of tensors, or any other value as it stands. An object with `shape` or `fill` must be a whole tensor.
Argument read_argument(const Json& value, const std::string& where);

// The name of an argument or an output, as in an op's schema. Error `bad_name`.
std::string checked_argument(std::string_view text, const std::string& where);
// A reason that says something. Error `bad_value`.
std::string checked_why(const Json& value, const std::string& where);
// Error `wrong_type` when it is no string.
const std::string& text_of(const Json& value, const std::string& where);
std::string element(const std::string& where, std::size_t index);            // "where[index]"

}  // namespace driftgate
