#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

/// The letters that pictures are written with: five by seven pixels, in cells of six by nine.
namespace knurl::detail {

constexpr int kGlyphWidth = 5;
constexpr int kGlyphHeight = 7;
constexpr int kCellWidth = 6;
constexpr int kCellHeight = 9;

/// A row a number, whose lowest five bits are its pixels, the highest of them the leftmost.
using Glyph = std::array<std::uint8_t, kGlyphHeight>;

/// A printable ASCII character's, or for others a box.
const Glyph& glyph_of(char32_t character);

constexpr bool is_set(const Glyph& glyph, int column, int row) {
  return ((glyph[static_cast<std::size_t>(row)] >> (kGlyphWidth - 1 - column)) & 1) != 0;
}

/// The characters of UTF-8 text; each byte that is none becomes one of its own.
std::u32string characters(std::string_view text);

}  // namespace knurl::detail
