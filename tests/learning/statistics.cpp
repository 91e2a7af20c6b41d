#include "statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "knurl/core/base/check.h"
#include "knurl/core/base/rng.h"

namespace knurl::learning {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  check(!values.empty(), "there is something to sum up");
  std::vector<double> out(values.begin(), values.end());
  std::ranges::sort(out);
  return out;
}

double quantile_of_sorted(std::span<const double> values, double part) {
  const double place = part * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return std::lerp(values[below], values[above], place - static_cast<double>(below));
}

}  // namespace

double mean(std::span<const double> values) {
  check(!values.empty(), "there is something to sum up");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double median(std::span<const double> values) {
  return quantile(values, 0.5);
}

double interquartile_mean(std::span<const double> values) {
  const std::vector<double> all = sorted(values);
  const std::size_t cut = all.size() / 4;
  return mean(std::span(all).subspan(cut, all.size() - 2 * cut));
}

double quantile(std::span<const double> values, double part) {
  return quantile_of_sorted(sorted(values), part);
}

Interval bootstrap_interval(std::span<const double> values, Statistic statistic,
                            const BootstrapOptions& options) {
  const std::vector<double> all = sorted(values);
  Rng rng(options.seed);
  std::vector<double> resample(all.size());
  std::vector<double> statistics(static_cast<std::size_t>(options.resamples));
  for (double& each : statistics) {
    for (double& value : resample) value = all[rng.below(all.size())];
    each = statistic(resample);
  }
  std::ranges::sort(statistics);
  const double outside = (1.0 - options.confidence) / 2.0;
  return {.low = quantile_of_sorted(statistics, outside),
          .high = quantile_of_sorted(statistics, 1.0 - outside)};
}

}  // namespace knurl::learning
