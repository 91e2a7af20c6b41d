#pragma once

#include <span>
#include <string_view>

#include "knurl/envs/picture/image.h"

namespace knurl {

/// In pixels from the upper left corner, y downwards.
struct Point {
  double x = 0.0;
  double y = 0.0;
};

/// Draws on an image. A pixel is coloured where its centre, at (x + 0.5, y + 0.5), lies in a shape,
/// without blending, so that a scene has few colours; what lies outside the image is cut off.
class Canvas {
 public:
  Canvas(int width, int height, Color background) : image_(width, height, background) {}

  /// The inside of a closed line through the corners; where it crosses itself, by even and odd.
  void polygon(std::span<const Point> corners, Color color);
  /// Between two opposite corners.
  void rectangle(Point from, Point to, Color color);
  void circle(Point centre, double radius, Color color);
  /// A stroke with square ends at both points.
  void line(Point from, Point to, double width, Color color);
  /// One line of text from its upper left corner; a font's pixel is `scale` pixels wide.
  void text(Point at, std::string_view text, int scale, Color color);

  [[nodiscard]] int width() const { return image_.width; }
  [[nodiscard]] int height() const { return image_.height; }
  [[nodiscard]] const Image& image() const { return image_; }
  [[nodiscard]] Image take() { return std::move(image_); }

 private:
  /// Colours the pixels of a row whose centres are in [from, to).
  void span(int row, double from, double to, Color color);

  Image image_;
};

}  // namespace knurl
