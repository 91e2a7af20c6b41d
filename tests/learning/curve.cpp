#include "curve.h"

#include <algorithm>
#include <cmath>

namespace knurl::learning {
namespace {

/// Resamples of each point: a picture needs no more.
constexpr int kResamples = 2'000;

double part_of(std::size_t index, std::size_t points) {
  return static_cast<double>(index) / static_cast<double>(points - 1);
}

}  // namespace

Curve thinned(const Curve& curve) {
  if (curve.size() <= kMostCurvePoints) return curve;
  Curve out;
  for (std::size_t i = 0; i < kMostCurvePoints; ++i) {
    const double place = part_of(i, kMostCurvePoints) * static_cast<double>(curve.size() - 1);
    out.push_back(curve[static_cast<std::size_t>(std::lround(place))]);
  }
  return out;
}

double value_at(const Curve& curve, double env_steps) {
  const auto after = std::ranges::lower_bound(curve, env_steps, {}, &CurvePoint::env_steps);
  if (after == curve.begin()) return curve.front().value;
  if (after == curve.end()) return curve.back().value;
  const CurvePoint& before = *(after - 1);
  const double part = (env_steps - before.env_steps) / (after->env_steps - before.env_steps);
  return std::lerp(before.value, after->value, part);
}

std::vector<BandPoint> band_of(std::span<const Curve> curves) {
  if (curves.empty() || std::ranges::any_of(curves, &Curve::empty)) return {};
  double first = 0.0;
  double last = curves.front().back().env_steps;
  for (const Curve& curve : curves) {
    first = std::max(first, curve.front().env_steps);
    last = std::min(last, curve.back().env_steps);
  }
  std::vector<BandPoint> out;
  for (std::size_t i = 0; first < last && i < kMostCurvePoints; ++i) {
    const double env_steps = std::lerp(first, last, part_of(i, kMostCurvePoints));
    std::vector<double> values;
    for (const Curve& curve : curves) values.push_back(value_at(curve, env_steps));
    out.push_back({.env_steps = env_steps,
                   .mean = mean(values),
                   .interval = bootstrap_interval(values, mean, {.resamples = kResamples})});
  }
  return out;
}

}  // namespace knurl::learning
