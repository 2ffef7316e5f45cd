#pragma once
// Strict JSON input: duplicate keys, unknown keys, wrong types and non-finite numbers are errors that name file and key.
//
// nlohmann/json keeps the last of duplicate keys and writes NaN as null without a word; everything that driftgate reads
// goes through here instead. Numbers that may be non-finite are written with `number()` as "nan", "inf", "-inf".
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace driftgate {

using Json = nlohmann::ordered_json;

// Throws Error `bad_json` (syntax, depth over 64) or `duplicate_key`; `where` is the file's name in the message.
Json parse_json(std::string_view text, const std::string& where);
// The same for a file of at most `max_bytes`; Error `unreadable` or `too_large`.
Json read_json(const std::filesystem::path& file, std::uint64_t max_bytes = std::uint64_t{1} << 28);
std::string read_text(const std::filesystem::path& file, std::uint64_t max_bytes = std::uint64_t{1} << 28);
// Writes through a temporary file and a rename, so that a full disk never leaves half a file. Error `unwritable`.
// A device, a pipe or a symbolic link, which a rename would replace, is written in place.
void write_text(const std::filesystem::path& file, std::string_view text);
// Removes a directory and all below it; nothing when there is none. Links are removed, not followed. (std::filesystem::remove_all
// crashes in a process that has loaded some CUDA builds of LibTorch, which bring symbols of another libstdc++.)
void remove_tree(const std::filesystem::path& directory);

// A double as JSON: a number, or one of the three strings when it is not finite. `as_number` reads both forms.
Json number(double value);
double as_number(const Json& value, const std::string& where);

// Reads one object key by key; `finish()` rejects every key that was never asked for (Error `unknown_key`).
// A missing key is `missing_key`, a value of another type `wrong_type`.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string where);

  bool has(const std::string& key);
  const Json& at(const std::string& key);               // any type
  const Json& object(const std::string& key);           // must be an object
  const Json& array(const std::string& key);            // must be an array
  std::string string(const std::string& key);
  std::string string(const std::string& key, std::string fallback);
  double real(const std::string& key);                  // a number, or "nan", "inf", "-inf"
  double real(const std::string& key, double fallback);
  std::int64_t integer(const std::string& key);
  std::int64_t integer(const std::string& key, std::int64_t fallback);
  bool boolean(const std::string& key, bool fallback);
  std::vector<std::string> strings(const std::string& key);                       // an array of strings
  std::vector<std::string> strings(const std::string& key, std::vector<std::string> fallback);
  void finish() const;

  // "file: key" at the top of a file, "file: path.key" below it.
  std::string where(const std::string& key) const {
    return where_ + (where_.find(": ") == std::string::npos ? ": " : ".") + key;
  }

 private:
  const Json* object_;
  std::string where_;
  std::set<std::string> seen_;
};

}  // namespace driftgate
