#pragma once

#include <cstdint>

#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/metrics/result.h"
#include "knurl/models/tabular/tabular_policy.h"

namespace knurl {

/// Learns a table of action values, step by step (losses/q_update.h).
class QLearner {
 public:
  QLearner(const QLearningConfig& config, const SpaceLayout& observations,
           const SpaceLayout& actions);

  /// Updates the table from each step of each segment, in order.
  void update(const PolicySteps& steps, std::int64_t env_steps);

  [[nodiscard]] const Weights& weights() const { return table_; }
  void set_weights(const Weights& weights);

  /// What has been learnt since the last call: mean_td_error (absolute), mean, min and max of the
  /// table, cur_lr.
  Result take_stats();

 private:
  SpaceLayout observations_;
  StateIndex states_;
  Schedule lr_;
  float gamma_;
  Weights table_;
  double td_error_sum_ = 0.0;
  std::int64_t updates_ = 0;
  double last_lr_ = 0.0;
};

}  // namespace knurl
