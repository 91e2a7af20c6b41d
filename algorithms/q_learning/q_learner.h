#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "knurl/algorithms/learner/learner.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/base/rng.h"
#include "knurl/core/metrics/result.h"
#include "knurl/models/tabular/tabular_policy.h"

namespace knurl {

/// Learns a table of action values, or two (UpdateRule::double_q), step by step
/// (losses/q_update.h).
class QLearner final : public Learner {
 public:
  /// `rng` draws which of two tables learns from a step.
  QLearner(const QLearningConfig& config, const SpaceLayout& observations,
           const SpaceLayout& actions, Rng rng);

  /// Updates from every step: env by env, each in the order of time. Schedules stand where they
  /// were after `timestep` env steps, before these were sampled. SARSA's last step of a fragment
  /// waits for the env's next action. Returns how many updates were made.
  std::int64_t update(const std::vector<Fragment>& fragments, std::int64_t timestep);

  /// Forgets the steps that wait: those after them were lost.
  void forget_waiting() { waiting_.clear(); }

  [[nodiscard]] Weights weights() const override { return tables_; }
  [[nodiscard]] std::int64_t version() const override { return tables_.version; }
  void set_weights(const Weights& weights) override;
  /// Steps that wait and the random stream where the rule has them, visits where the step size
  /// needs them. Loading throws Error(checkpoint) where they are missing or another table's.
  void save(CheckpointData& out) const override;
  void load(const CheckpointData& in) override;

  /// mean_td_error (absolute), mean_q, min_q and max_q of what the policy acts by, cur_lr,
  /// cur_epsilon.
  Result take_stats() override;

 private:
  struct Step {
    std::int64_t state = 0;
    std::int64_t action = 0;
    float reward = 0.0F;
  };
  /// What came after a step; `action` where one was taken.
  struct Next {
    std::int64_t state = 0;
    std::optional<std::int64_t> action = {};
    bool terminal = false;
  };
  struct Waiting {
    std::int64_t episode = 0;
    Step step = {};
  };
  /// The table that an update changes, and for double Q-learning the other.
  struct Turn {
    std::size_t table = 0;
    std::size_t judge = 0;
  };

  void follow(const PolicySteps& steps, const Segment& segment);
  /// Learns from the step that waited for this one, where there is one of the same episode.
  void end_wait(const Segment& segment, const Next& next);
  void learn(const Step& step, const Next& next);
  [[nodiscard]] Turn draw_turn();
  [[nodiscard]] float value_of(const Next& next, const Turn& turn);
  [[nodiscard]] float step_size(std::size_t table, std::size_t entry);
  /// Throws Error(checkpoint) naming the file where the tables have no such entry.
  void require_fit(const Step& step, const std::string& path) const;

  /// All values of a table, and those of a state's actions.
  [[nodiscard]] std::span<float> values(std::size_t table);
  [[nodiscard]] std::span<float> values(std::size_t table, std::int64_t state);

  SpaceLayout observations_;
  StateIndex states_;
  UpdateRule rule_;
  Schedule lr_;
  Schedule epsilon_;
  double visit_power_;
  float gamma_;
  Rng rng_;
  Weights tables_;
  std::int64_t num_actions_;
  RecordBatch visits_;  ///< int64, named as the tables; empty where lr does not need them
  std::map<int, Waiting> waiting_;  ///< by env; SARSA's
  double td_error_sum_ = 0.0;
  std::int64_t updates_ = 0;
  double last_lr_ = 0.0;
  double last_epsilon_ = 0.0;
};

}  // namespace knurl
