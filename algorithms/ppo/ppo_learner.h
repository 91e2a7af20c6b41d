#pragma once

#include "knurl/algorithms/learner/learner.h"
#include "knurl/algorithms/losses/ppo_loss.h"
#include "knurl/algorithms/ppo/ppo_batch.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/metrics/result.h"

namespace knurl {

/// Learns PPO's policy and value nets: epochs of shuffled minibatches, an adapting KL coefficient.
class PPOLearner {
 public:
  PPOLearner(const PPOConfig& config, const SpaceLayout& observations, const SpaceLayout& actions,
             const Rng& rng);

  /// Learns from a batch at a point of the schedules. Returns RLlib's learner stats: means over all
  /// minibatches. Throws Error(env) where the loss is not finite.
  Result update(const PPOBatch& batch, std::int64_t env_steps);

  [[nodiscard]] Weights weights() const { return learner_.weights(); }
  void set_weights(const Weights& weights) { learner_.set_weights(weights); }
  [[nodiscard]] double kl_coeff() const { return kl_coeff_; }

  void save(CheckpointData& out) const;
  void load(const CheckpointData& in);

 private:
  PpoLoss update_minibatch(const PPOBatch& batch, std::span<const std::int32_t> rows, double lr);

  PPOOptions options_;
  Schedule lr_;
  ActionDistribution distribution_;
  NetLearner learner_;
  Rng shuffle_;
  double kl_coeff_;
  PpoLossOptions loss_options_;
  RecordBatch minibatch_;
};

}  // namespace knurl
