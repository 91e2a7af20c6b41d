#include "knurl/envs/picture/canvas.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "knurl/envs/picture/detail/font.h"

namespace knurl {
namespace {

/// The first pixel of a row or column whose centre is at or after a place.
int first_centre(double place, int end) {
  return static_cast<int>(std::clamp(std::ceil(place - 0.5), 0.0, static_cast<double>(end)));
}

}  // namespace

void Canvas::span(int row, double from, double to, Color color) {
  const int begin = first_centre(from, width());
  const int end = first_centre(to, width());
  for (int x = begin; x < end; ++x) image_.at(x, row) = color;
}

void Canvas::polygon(std::span<const Point> corners, Color color) {
  if (corners.size() < 3) return;
  double top = corners[0].y;
  double bottom = corners[0].y;
  for (const Point& corner : corners) {
    top = std::min(top, corner.y);
    bottom = std::max(bottom, corner.y);
  }
  std::vector<double> crossings;
  for (int row = first_centre(top, height()); row < first_centre(bottom, height()); ++row) {
    const double y = row + 0.5;
    crossings.clear();
    for (std::size_t i = 0; i < corners.size(); ++i) {
      const Point& a = corners[i];
      const Point& b = corners[(i + 1) % corners.size()];
      if ((a.y <= y) == (b.y <= y)) continue;
      crossings.push_back(a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x));
    }
    std::ranges::sort(crossings);
    for (std::size_t i = 0; i + 1 < crossings.size(); i += 2) {
      span(row, crossings[i], crossings[i + 1], color);
    }
  }
}

void Canvas::rectangle(Point from, Point to, Color color) {
  const std::array<Point, 4> corners{from, {to.x, from.y}, to, {from.x, to.y}};
  polygon(corners, color);
}

void Canvas::circle(Point centre, double radius, Color color) {
  const int end = first_centre(centre.y + radius, height());
  for (int row = first_centre(centre.y - radius, height()); row < end; ++row) {
    const double up = row + 0.5 - centre.y;
    const double half = std::sqrt(std::max(0.0, radius * radius - up * up));
    span(row, centre.x - half, centre.x + half, color);
  }
}

void Canvas::line(Point from, Point to, double width, Color color) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  if (length == 0.0) return;
  const double across_x = -(to.y - from.y) / length * width / 2.0;
  const double across_y = (to.x - from.x) / length * width / 2.0;
  const std::array<Point, 4> corners{{{from.x + across_x, from.y + across_y},
                                      {to.x + across_x, to.y + across_y},
                                      {to.x - across_x, to.y - across_y},
                                      {from.x - across_x, from.y - across_y}}};
  polygon(corners, color);
}

void Canvas::text(Point at, std::string_view text, int scale, Color color) {
  double left = at.x;
  for (const char32_t character : detail::characters(text)) {
    const detail::Glyph& glyph = detail::glyph_of(character);
    for (int row = 0; row < detail::kGlyphHeight; ++row) {
      for (int column = 0; column < detail::kGlyphWidth; ++column) {
        if (!detail::is_set(glyph, column, row)) continue;
        const Point corner{left + column * scale, at.y + row * scale};
        rectangle(corner, {corner.x + scale, corner.y + scale}, color);
      }
    }
    left += detail::kCellWidth * scale;
  }
}

Image resized(const Image& image, int width, int height, Color fill) {
  Image out(width, height, fill);
  for (int y = 0; y < std::min(height, image.height); ++y) {
    for (int x = 0; x < std::min(width, image.width); ++x) out.at(x, y) = image.at(x, y);
  }
  return out;
}

Image text_image(std::string_view text) {
  constexpr int kScale = 2;
  constexpr int kMargin = 8;
  std::vector<std::string_view> lines;
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    longest = std::max(longest, detail::characters(lines.back()).size());
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (longest == 0) return {};
  constexpr int kLine = detail::kCellHeight * kScale;
  Canvas canvas(2 * kMargin + static_cast<int>(longest) * detail::kCellWidth * kScale,
                2 * kMargin + static_cast<int>(lines.size()) * kLine, {255, 255, 255});
  double top = kMargin;
  for (const std::string_view line : lines) {
    canvas.text({kMargin, top}, line, kScale, {0, 0, 0});
    top += kLine;
  }
  return canvas.take();
}

}  // namespace knurl
