#include "judge/table_edit.hpp"

#include "judge/tolerance.hpp"

namespace driftgate {

void edit_rows(const std::filesystem::path& directory, const std::function<void(const std::string& row, Json& object)>& edit) {
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    if (!holds_rows(entry.path())) continue;
    const Json before = read_json(entry.path());
    Json document = before;
    for (Json& row : document["rows"]) edit(row["row"].get<std::string>(), row);
    if (document == before) continue;
    std::string text = "{\"schema\": " + document["schema"].dump() + ", \"rows\": [\n";
    for (std::size_t i = 0; i < document["rows"].size(); ++i)
      text += "  " + document["rows"][i].dump() + (i + 1 < document["rows"].size() ? ",\n" : "\n");
    write_text(entry.path(), text + "]}\n");
  }
}

}  // namespace driftgate
