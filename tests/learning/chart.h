#pragma once

#include <span>
#include <string>
#include <vector>

#include "curve.h"

namespace knurl::learning {

/// A line with a band around it.
struct ChartSeries {
  std::string name;
  std::vector<BandPoint> points;
};

/// At most two series over env steps as a picture, SVG: lines, bands, axes from round numbers to
/// round numbers, and names. Throws std::logic_error where there is no point.
std::string chart_svg(const std::string& title, const std::string& value_label,
                      std::span<const ChartSeries> series);

/// Round numbers, 1, 2 or 5 times a power of ten apart, from at or below `low` to at or above
/// `high`: five to twelve of them, or two where the range is empty.
std::vector<double> ticks(double low, double high);

}  // namespace knurl::learning
