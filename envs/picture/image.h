#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace knurl {

/// Red, green, blue.
struct Color {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Color&) const = default;
};

/// A picture: `height` rows of `width` pixels from the top left corner on. Without any it is empty.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<Color> pixels = {};  ///< [height, width]

  Image() = default;
  /// All of one colour.
  Image(int columns, int rows, Color color)
      : width(columns),
        height(rows),
        pixels(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows), color) {}

  [[nodiscard]] bool empty() const { return pixels.empty(); }
  [[nodiscard]] Color& at(int x, int y) { return pixels[index(x, y)]; }
  [[nodiscard]] const Color& at(int x, int y) const { return pixels[index(x, y)]; }
  bool operator==(const Image&) const = default;

 private:
  [[nodiscard]] std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) +
           static_cast<std::size_t>(x);
  }
};

/// The picture cut on the right and below, or filled up there with `fill`, to this size.
Image resized(const Image& image, int width, int height, Color fill);

/// Lines of text in a small font, black on white, as wide as the longest; characters that are not
/// ASCII are boxes. Empty text is an empty image.
Image text_image(std::string_view text);

}  // namespace knurl
