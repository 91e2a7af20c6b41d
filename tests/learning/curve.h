#pragma once

#include <span>
#include <string>
#include <vector>

#include "statistics.h"

namespace knurl::learning {

struct CurvePoint {
  double env_steps = 0.0;
  double value = 0.0;
  bool operator==(const CurvePoint&) const = default;
};

/// What a seed came to while it trained, by ascending env steps.
using Curve = std::vector<CurvePoint>;

inline constexpr std::size_t kMostCurvePoints = 50;

/// At most kMostCurvePoints points, evenly chosen among the curve's, its first and last kept.
Curve thinned(const Curve& curve);

/// The curve's value on a line between its points; before the first and after the last theirs.
double value_at(const Curve& curve, double env_steps);

/// Several seeds at the same env steps: their mean, and its 95 % bootstrap interval.
struct BandPoint {
  double env_steps = 0.0;
  double mean = 0.0;
  Interval interval = {};
};

/// kMostCurvePoints points over the steps that all curves have; none where a curve is empty.
std::vector<BandPoint> band_of(std::span<const Curve> curves);

}  // namespace knurl::learning
