#pragma once

#include <cstdint>
#include <span>

namespace knurl::learning {

/// A number that sums up others, at least one, whatever their order.
using Statistic = double (*)(std::span<const double> values);

double mean(std::span<const double> values);

/// The middle value, or the mean of the two in the middle.
double median(std::span<const double> values);

/// The interquartile mean (Agarwal et al. 2021): the mean without the lowest and the highest
/// quarter. Where a quarter is no whole number of values, less is cut, as rliable does: of 3 values
/// none, of 5 one at each end, of 10 two.
double interquartile_mean(std::span<const double> values);

/// The value below which this part of the values lies, from 0 to 1, on a line between neighbours.
double quantile(std::span<const double> values, double part);

struct Interval {
  double low = 0.0;
  double high = 0.0;
  bool operator==(const Interval&) const = default;
};

struct BootstrapOptions {
  int resamples = 10'000;
  double confidence = 0.95;
  std::uint64_t seed = 1;
};

/// The percentile bootstrap (Efron 1979): the quantiles of a statistic over resamples of the
/// values, drawn with replacement. The same values, in any order, give the same interval.
Interval bootstrap_interval(std::span<const double> values, Statistic statistic,
                            const BootstrapOptions& options = {});

}  // namespace knurl::learning
