#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/data/record_batch.h"

namespace knurl {

/// Mean and variance of rows of numbers, one row after the other in double (Welford 1962).
class RunningMoments {
 public:
  explicit RunningMoments(std::size_t width) : mean_(width), squares_(width) {}

  void add(const float* row);
  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] const std::vector<double>& mean() const { return mean_; }
  /// The variance of the population of which the rows are a sample; 1 before there are two.
  [[nodiscard]] double variance(std::size_t index) const;

  /// Goes on as if `count` rows of this mean and variance had been added.
  void assume(std::int64_t count, std::span<const double> mean, std::span<const double> variance);

  [[nodiscard]] RecordBatch state() const;
  /// Throws Error(checkpoint) where the state is of another width.
  void restore(const RecordBatch& state);

 private:
  std::int64_t count_ = 0;
  std::vector<double> mean_;
  std::vector<double> squares_;  ///< summed distances from the mean
};

/// RLlib's MeanStdFilter as part of a net: a layer of it subtracts the mean of the observations
/// seen so far and divides by their standard deviation. Rows come in an order that does not depend
/// on how workers share envs, so that neither do the filter's bits.
class ObservationFilter {
 public:
  explicit ObservationFilter(int inputs) : moments_(static_cast<std::size_t>(inputs)) {}
  /// What is added to standard deviations.
  void set_epsilon(double epsilon) { epsilon_ = epsilon; }

  /// An observation as the net reads it.
  void add(const float* row) { moments_.add(row); }
  /// Writes what was seen into the net's tensors "filter.mean" and "filter.scale".
  void write(RecordBatch& parameters) const;
  /// Goes on from what was written into these tensors, after so many observations.
  void read(const RecordBatch& parameters, std::int64_t observed);
  [[nodiscard]] std::int64_t observed() const { return moments_.count(); }

  void save(CheckpointData& out) const;
  void load(const CheckpointData& in);
  /// observed() of the filter in a checkpoint; 0 where it has none.
  static std::int64_t observed_in(const CheckpointData& state);

 private:
  RunningMoments moments_;
  double epsilon_ = 1e-8;
};

}  // namespace knurl
