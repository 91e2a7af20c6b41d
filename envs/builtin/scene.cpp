#include "knurl/envs/builtin/scene.h"

#include <algorithm>

namespace knurl {

int cell_size(const GridScene& scene) {
  constexpr int kMost = 64;
  constexpr int kSide = 512;
  return std::clamp(kSide / std::max(scene.rows, scene.columns), 1, kMost);
}

Point cell_centre(const GridScene& scene, int row, int column) {
  const double size = cell_size(scene);
  return {(column + 0.5) * size, (row + 0.5) * size};
}

Canvas draw_cells(const GridScene& scene) {
  constexpr int kLeastWithLines = 8;
  const int size = cell_size(scene);
  const double line = size >= kLeastWithLines ? 1.0 : 0.0;
  Canvas canvas(scene.columns * size, scene.rows * size, kGray);
  for (int row = 0; row < scene.rows; ++row) {
    for (int column = 0; column < scene.columns; ++column) {
      const Point corner{static_cast<double>(column) * size, static_cast<double>(row) * size};
      canvas.rectangle(corner, {corner.x + size - line, corner.y + size - line},
                       scene.color(row, column));
    }
  }
  return canvas;
}

void draw_disc(Canvas& canvas, const GridScene& scene, int row, int column, Color color) {
  const double radius = std::max(1.0, 0.3 * cell_size(scene));
  canvas.circle(cell_centre(scene, row, column), radius, color);
}

}  // namespace knurl
