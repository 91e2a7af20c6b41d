#pragma once

#include <functional>

#include "knurl/envs/picture/canvas.h"

/// What the pictures of the built-in envs have in common.
namespace knurl {

constexpr Color kWhite{255, 255, 255};
constexpr Color kBlack{0, 0, 0};
constexpr Color kGray{150, 150, 150};
constexpr Color kBrown{160, 110, 60};
constexpr Color kRed{200, 50, 50};
constexpr Color kGreen{60, 150, 70};
constexpr Color kBlue{60, 90, 190};
constexpr Color kYellow{230, 200, 60};

/// A grid of cells as a picture: one of up to 512 by 512 pixels, or a pixel a cell where there are
/// more cells than that.
struct GridScene {
  int rows = 1;
  int columns = 1;
  /// What fills a cell.
  std::function<Color(int row, int column)> color = {};
};

/// Pixels of a cell's side.
int cell_size(const GridScene& scene);
/// The middle of a cell.
Point cell_centre(const GridScene& scene, int row, int column);
/// The cells, with lines between them where they are large enough.
Canvas draw_cells(const GridScene& scene);
/// A disc in a cell.
void draw_disc(Canvas& canvas, const GridScene& scene, int row, int column, Color color);

}  // namespace knurl
