#pragma once
// Reads one line of cases.jsonl in one pass, without building a tree: judging reads every line of a run, and a tree of
// nlohmann/json takes ten times as long. As strict as json.hpp: unknown, duplicate and missing keys, values of another type and
// text after the object are Error `bad_evidence`.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace driftgate {

class LineReader {
 public:
  // Both must outlive the reader. where: the file and the line, for messages.
  LineReader(std::string_view text, const std::string& where) : rest_(text), where_(where) {}

  // Calls read(key) once a key; it reads the value and returns true, or returns false for a key that it does not know.
  template <class Read>
  void object(std::initializer_list<std::string_view> needed, Read read);
  // Calls read() once an item.
  template <class Read>
  void array(Read read);

  std::string string();
  std::int64_t count();  // a whole number >= 0
  double real();         // a number, "nan", "inf" or "-inf"
  double measure();      // the same, but nothing below 0
  bool boolean();
  void finish();  // nothing but blanks is left

  [[noreturn]] void fail(const std::string& problem) const;

 private:
  static constexpr int kMostKeys = 32;  // more than any object of a line has

  char peek();  // the next character that is no blank; '\0' at the end
  bool take(char c);
  void expect(char c);
  std::string_view quoted();  // a string's token, between its quotes
  std::string_view number_token();

  std::string_view rest_;
  const std::string& where_;
};

template <class Read>
void LineReader::object(std::initializer_list<std::string_view> needed, Read read) {
  std::string_view seen[kMostKeys];
  int n = 0;
  const auto is_seen = [&](std::string_view key) {
    for (int i = 0; i < n; ++i) {
      if (seen[i] == key) return true;
    }
    return false;
  };
  expect('{');
  if (!take('}')) {
    do {
      const std::string_view key = quoted();
      if (is_seen(key) || n == kMostKeys) fail("duplicate key '" + std::string(key) + "'");
      seen[n++] = key;
      expect(':');
      if (!read(key)) fail("unknown key '" + std::string(key) + "'");
    } while (take(','));
    expect('}');
  }
  for (const std::string_view key : needed) {
    if (!is_seen(key)) fail("missing key '" + std::string(key) + "'");
  }
}

template <class Read>
void LineReader::array(Read read) {
  expect('[');
  if (take(']')) return;
  do read();
  while (take(','));
  expect(']');
}

}  // namespace driftgate
