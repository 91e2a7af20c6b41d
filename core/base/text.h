#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace knurl {

/// 12345 -> "12,345", whatever the locale.
inline std::string grouped(std::int64_t number) {
  std::string digits = fmt::to_string(number);
  const std::ptrdiff_t first = number < 0 ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<std::size_t>(at), ",");
  }
  return digits;
}

/// A measure with the four digits that mean something, -0.5844 or 88.33; from 1000 on a whole
/// number.
inline std::string figures(double value) {
  const double size = std::abs(value);
  return size >= 1e3 && size < 1e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

/// Lower case with "-" as "_": `Num-Workers` and `num_workers` are the same word.
inline std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    out += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

/// The start of a UTF-8 text that has at most `bytes`; no letter is cut in two.
inline std::string cut_to_bytes(const std::string& text, std::size_t bytes) {
  std::size_t end = std::min(bytes, text.size());
  const auto in_letter = [&] {
    return end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
  };
  while (end > 0 && in_letter()) --end;
  return text.substr(0, end);
}

}  // namespace knurl
