#include "evidence/line_reader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "error.hpp"
#include "json.hpp"

namespace driftgate {
namespace {

// ASCII without escapes stands for itself.
bool is_plain(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c != '\\' && static_cast<unsigned char>(c) < 0x80; });
}

// The length of the JSON number that `text` begins with; 0 when it begins with none.
std::size_t number_length(std::string_view text) {
  std::size_t i = 0;
  const auto take = [&](std::string_view any) {
    if (i == text.size() || any.find(text[i]) == std::string_view::npos) return false;
    ++i;
    return true;
  };
  const auto digits = [&] {
    const std::size_t first = i;
    while (take("0123456789")) continue;
    return i > first;
  };
  take("-");
  if (!take("0") && !digits()) return 0;
  if (take(".") && !digits()) return 0;
  if (!take("eE")) return i;
  take("+-");
  return digits() ? i : 0;
}

}  // namespace

void LineReader::fail(const std::string& problem) const { throw Error("bad_evidence", where_, problem); }

char LineReader::peek() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r')) rest_.remove_prefix(1);
  return rest_.empty() ? '\0' : rest_.front();
}

bool LineReader::take(char c) {
  if (peek() != c) return false;
  rest_.remove_prefix(1);
  return true;
}

void LineReader::expect(char c) {
  if (take(c)) return;
  const std::string found = rest_.empty() ? "the end of the line" : "'" + std::string(rest_.substr(0, 20)) + "'";
  fail(std::string("expected '") + c + "', found " + found);
}

std::string_view LineReader::quoted() {
  expect('"');
  std::size_t end = 0;
  while (end < rest_.size() && rest_[end] != '"') {
    if (static_cast<unsigned char>(rest_[end]) < 0x20) fail("a control character inside a string");
    end += rest_[end] == '\\' ? 2 : 1;
  }
  if (end >= rest_.size()) fail("a string without an end");
  const std::string_view token = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return token;
}

std::string LineReader::string() {
  const std::string_view token = quoted();
  if (is_plain(token)) return std::string(token);
  const Json decoded = Json::parse('"' + std::string(token) + '"', nullptr, false);
  if (!decoded.is_string()) fail("a string with a bad escape or that is not UTF-8");
  return decoded.get<std::string>();
}

std::string_view LineReader::number_token() {
  peek();
  const std::string_view token = rest_.substr(0, number_length(rest_));
  rest_.remove_prefix(token.size());
  return token;
}

std::int64_t LineReader::count() {
  const std::string_view token = number_token();
  std::int64_t value = -1;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), value);
  if (error != std::errc() || end != token.data() + token.size() || value < 0) fail("expected a whole number of at least 0");
  return value;
}

double LineReader::real() {
  if (peek() == '"') {
    const std::string_view word = quoted();
    if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (word == "inf") return std::numeric_limits<double>::infinity();
    if (word == "-inf") return -std::numeric_limits<double>::infinity();
    fail("expected a number, \"nan\", \"inf\" or \"-inf\"");
  }
  const std::string_view token = number_token();
  std::array<char, 40> text{};  // strtod needs an end; no double takes 40 characters
  if (token.empty() || token.size() >= text.size()) fail("expected a number");
  token.copy(text.data(), token.size());
  const double value = std::strtod(text.data(), nullptr);
  if (!std::isfinite(value)) fail("a number beyond the range of double");
  return value;
}

double LineReader::measure() {
  const double value = real();
  if (value < 0) fail("a measured number below 0");
  return value;
}

bool LineReader::boolean() {
  for (const bool value : {true, false}) {
    const std::string_view word = value ? "true" : "false";
    peek();
    if (!rest_.starts_with(word)) continue;
    rest_.remove_prefix(word.size());
    return value;
  }
  fail("expected true or false");
}

void LineReader::finish() {
  if (peek() != '\0' || !rest_.empty()) fail("text after the end of the object");
}

}  // namespace driftgate
