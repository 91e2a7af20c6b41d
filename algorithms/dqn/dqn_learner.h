#pragma once

#include <optional>
#include <span>
#include <vector>

#include "knurl/algorithms/dqn/dqn_config.h"
#include "knurl/algorithms/learner/learner.h"
#include "knurl/algorithms/learner/net_learner.h"
#include "knurl/algorithms/losses/td_loss.h"
#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/models/fast/fast_net.h"
#include "knurl/models/observation_encoder.h"

namespace knurl {

/// Learns DQN's net from drawn transitions, and keeps its target net.
class DqnLearner final : public Learner {
 public:
  DqnLearner(const DQNConfig& config, const SpaceLayout& observations, const SpaceLayout& actions,
             const Rng& rng);

  /// One gradient step on transitions (NStepFolder's columns), of which row i counts weights[i]
  /// times. `timestep` is how many env steps the run has taken. Returns the rows' errors. Throws
  /// Error(env) where the loss is not finite.
  std::vector<float> update(const RecordBatch& transitions, std::span<const float> weights,
                            std::int64_t timestep);
  /// Shows the observations of some fragments to the net's filter, where it has one.
  void observe(const std::vector<Fragment>& fragments);
  /// Both nets see observations through what the filter was shown.
  void apply_filter();
  /// The action values [rows, actions] that weights give the observations of some fragments.
  std::vector<float> action_values(const Weights& weights, const std::vector<Fragment>& fragments);
  [[nodiscard]] int num_actions() const { return head_.actions; }
  /// Moves the target net to the net, by tau.
  void update_target();

  [[nodiscard]] Weights weights() const override { return learner_.weights(); }
  [[nodiscard]] std::int64_t version() const override { return learner_.version(); }
  void set_weights(const Weights& weights) override { learner_.set_weights(weights); }
  [[nodiscard]] const RecordBatch& target() const { return target_.tensors; }
  /// Means over updates: mean_q, min_q, max_q, mean_td_error, total_loss, grad_gnorm; and cur_lr as
  /// it was last used.
  Result take_stats() override;
  void save(CheckpointData& out) const override;
  void load(const CheckpointData& in) override;

 private:
  /// Runs a plain net on observations and combines its scores [rows, actions, atoms].
  void judge(fast::FastNet& net, const float* inputs, std::int64_t rows, std::vector<float>& out);
  void run_target(const float* inputs, std::int64_t rows);
  void run_online(const float* inputs, std::int64_t rows);
  TdLoss loss(const TdBatch& batch, const OutputValues& values, const OutputGradients& gradients);
  [[nodiscard]] Weights acting_weights(const Weights& weights, const char* who) const;

  DqnOptions options_;
  SpaceLayout observations_;
  NetSpec spec_;
  QHead head_;
  Schedule lr_;
  NetLearner learner_;
  Weights target_;
  Rng noise_;  ///< split by update
  fast::FastNet online_net_;
  fast::FastNet target_net_;
  bool target_is_current_ = false;  ///< target_net_ has target_'s weights
  ObservationEncoder encoder_;
  ObservationEncoder next_encoder_;
  RecordBatch minibatch_;
  std::vector<float> scores_;
  std::vector<float> next_online_;
  std::vector<float> next_target_;
  std::vector<float> next_q_;
  std::vector<float> gradient_;

  /// Sums since the last take_stats.
  struct Sums {
    double mean_q = 0.0;
    double min_q = 0.0;
    double max_q = 0.0;
    double td_error = 0.0;
    double loss = 0.0;
    double gradient_norm = 0.0;
    std::int64_t updates = 0;
  };
  Sums sums_;
  double last_lr_ = 0.0;
};

}  // namespace knurl
