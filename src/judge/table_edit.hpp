#pragma once
// Writes measured fields back into the tolerance files: what `measure` and `mutants` found. Limits are never written by a program.
#include <filesystem>
#include <functional>
#include <string>

#include "json.hpp"

namespace driftgate {

// Calls `edit` with every row's name and JSON object and writes the files that changed, one row a line.
void edit_rows(const std::filesystem::path& directory, const std::function<void(const std::string& row, Json& object)>& edit);

}  // namespace driftgate
