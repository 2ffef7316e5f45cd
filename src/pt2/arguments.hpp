#pragma once
// From an argument of an exported node to the value that the operator's schema asks for.
#include "pt2/interpreter.hpp"

namespace driftgate {

c10::IValue to_value(const ExportedArgument& argument, const c10::Argument& formal, const Values& values, const RunsOn& on, const std::string& where);
// The same without a schema: a number, or a value of that name.
c10::IValue to_number(const ExportedArgument& argument, const Values& values, const std::string& where);

}  // namespace driftgate
