#pragma once

#include "knurl/algorithms/learner/learner.h"
#include "knurl/algorithms/learner/net_learner.h"
#include "knurl/algorithms/losses/ppo_loss.h"
#include "knurl/algorithms/ppo/ppo_batch.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/metrics/result.h"

namespace knurl {

/// Learns PPO's policy and value nets: epochs of shuffled minibatches, an adapting KL coefficient.
class PpoLearner final : public Learner {
 public:
  PpoLearner(const PPOConfig& config, const SpaceLayout& observations, const SpaceLayout& actions,
             const Rng& rng);

  /// Learns from a batch; schedules stand where they were after `timestep` env steps, before the
  /// batch was sampled. Throws Error(env) where the loss is not finite.
  void update(const PpoBatch& batch, std::int64_t timestep);

  [[nodiscard]] const NetSpec& net() const { return net_; }
  [[nodiscard]] const ActionMask& mask() const { return mask_; }
  [[nodiscard]] Weights weights() const override { return learner_.weights(); }
  [[nodiscard]] std::int64_t version() const override { return learner_.version(); }
  void set_weights(const Weights& weights) override { learner_.set_weights(weights); }
  /// Means over minibatches: total_loss, policy_loss, vf_loss, vf_explained_var, kl, entropy,
  /// grad_gnorm; and cur_lr, cur_kl_coeff, entropy_coeff as they were last used.
  Result take_stats() override;
  void save(CheckpointData& out) const override;
  void load(const CheckpointData& in) override;

 private:
  std::span<const float> allowed(std::span<const float> logits);
  PpoLoss judge_minibatch(const PpoBatch& batch, std::span<const std::int32_t> chosen);

  PpoOptions options_;
  NetSpec net_;
  ActionMask mask_;
  std::vector<float> masked_;        ///< logits of a minibatch, of actions that are allowed
  std::size_t units_per_minibatch_;  ///< rows, or sequences of a recurrent net
  Schedule lr_;
  ActionDistribution distribution_;
  NetLearner learner_;
  Rng shuffle_;
  double kl_coeff_;
  PpoLossOptions loss_options_;
  RecordBatch minibatch_;
  Scratch scratch_;  ///< of the loss

  /// Sums since the last take_stats.
  struct Sums {
    PpoLoss loss = {};
    double gradient_norm = 0.0;
    std::int64_t minibatches = 0;
  };
  Sums sums_;
  Result current_;  ///< what schedules and adaptation last gave
};

}  // namespace knurl
