#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "knurl/core/metrics/result.h"

namespace knurl::cli {

/// What a curve is drawn with.
enum class Glyphs { ascii, unicode };

/// Unicode where the environment says that the terminal takes UTF-8 (LC_ALL, LC_CTYPE, LANG).
Glyphs terminal_glyphs();

/// How a number went so far, as a line of bars from its least to its largest value. Has at most
/// kMostCells of them: where there are more values, a bar stands for the mean of several.
class Curve {
 public:
  static constexpr std::size_t kMostCells = 16;

  void add(double value);
  /// Nothing before there are two values.
  [[nodiscard]] std::string text(Glyphs glyphs) const;

 private:
  struct Cell {
    double sum = 0.0;
    std::size_t count = 0;
  };
  std::vector<Cell> cells_;
  std::size_t values_a_cell_ = 1;
};

/// A part of a line; the higher its rank, the sooner a narrow terminal goes without it.
struct LinePart {
  std::string text = {};
  int rank = 0;
};

/// The parts in their order on a line that has fewer columns than `width`; those of the highest
/// ranks are left out whole where there is no room, in the end all of them.
std::string fitted(std::vector<LinePart> parts, std::size_t width);

/// Where the time of a run's iterations went.
class PhaseTimes {
 public:
  void add(const Result& result);
  /// "env 31%, inference 22%, learning 44%, transport 1%, rest 2%", without what rounds to nothing;
  /// empty without iterations.
  [[nodiscard]] std::string text() const;

 private:
  static constexpr std::size_t kPhases = 4;

  std::array<double, kPhases> ms_ = {};
  double total_ms_ = 0.0;
};

}  // namespace knurl::cli
