#include <cmath>

#include <fmt/format.h>

#include "report/report.hpp"

namespace driftgate {
namespace {

// Length of the well-formed UTF-8 sequence at the front of `text` (RFC 3629), 0 when there is none.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4 || !follows(1)) return 0;
  if (first < 0xE0) return 2;
  if (!follows(2)) return 0;
  if (first < 0xF0) return (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ? 0 : 3;
  if (!follows(3)) return 0;
  return (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F) ? 0 : 4;
}

// C0 and C1 controls, DEL, the line separators, bidirectional overrides, and what XML 1.0 has no way to write.
bool is_control(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  if (sequence.size() == 2) return first == 0xC2 && static_cast<unsigned char>(sequence[1]) < 0xA0;
  if (sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF") return true;
  const bool punctuation = sequence.substr(0, 2) == "\xE2\x80", isolates = sequence.substr(0, 2) == "\xE2\x81";
  const auto last = static_cast<unsigned char>(sequence.back());
  return (punctuation && last >= 0xA8 && last <= 0xAE) || (isolates && last >= 0xA6 && last <= 0xA9);
}

}  // namespace

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0 || is_control(text.substr(0, length)))
      out += '?';
    else
      out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string scientific(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2e}", value); }

std::string times(double value) { return std::isnan(value) ? "-" : fmt::format("{:.2g}", value); }

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t sign = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > sign + 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

}  // namespace driftgate
