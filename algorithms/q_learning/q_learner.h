#pragma once

#include <cstdint>

#include "knurl/algorithms/learner/learner.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/metrics/result.h"
#include "knurl/models/tabular/tabular_policy.h"

namespace knurl {

/// Learns a table of action values, step by step (losses/q_update.h).
class QLearner final : public Learner {
 public:
  QLearner(const QLearningConfig& config, const SpaceLayout& observations,
           const SpaceLayout& actions);

  /// Updates the table from every step: env by env, each in the order of time. Schedules stand
  /// where they were after `timestep` env steps, before these were sampled. Returns how many steps.
  std::int64_t update(const std::vector<Fragment>& fragments, std::int64_t timestep);

  [[nodiscard]] Weights weights() const override { return table_; }
  [[nodiscard]] std::int64_t version() const override { return table_.version; }
  void set_weights(const Weights& weights) override;
  void save(CheckpointData& /*out*/) const override {}  // the table is all there is
  void load(const CheckpointData& /*in*/) override {}

  /// mean_td_error (absolute), mean_q, min_q and max_q of the table, cur_lr, cur_epsilon.
  Result take_stats() override;

 private:
  void update(const PolicySteps& steps, const Segment& segment);

  SpaceLayout observations_;
  StateIndex states_;
  Schedule lr_;
  Schedule epsilon_;
  float gamma_;
  Weights table_;
  double td_error_sum_ = 0.0;
  std::int64_t updates_ = 0;
  double last_lr_ = 0.0;
  double last_epsilon_ = 0.0;
};

}  // namespace knurl
