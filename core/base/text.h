#pragma once

#include <cctype>
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

/// Lower case with "-" as "_": `Num-Workers` and `num_workers` are the same word.
inline std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    out += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

}  // namespace knurl
