#pragma once

#include <memory>
#include <optional>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/dqn/dqn_config.h"
#include "knurl/algorithms/dqn/dqn_learner.h"
#include "knurl/algorithms/dqn/parameter_noise.h"
#include "knurl/algorithms/replay/n_step.h"
#include "knurl/algorithms/replay/replay_buffer.h"

namespace knurl {

/// Deep Q-learning (Mnih et al. 2015) with what Rainbow (Hessel et al. 2018) adds, as RLlib runs
/// it.
class DQN final : public Algorithm {
 public:
  explicit DQN(std::unique_ptr<const AlgorithmConfig> resolved);

  [[nodiscard]] const ReplayBuffer& replay() const { return replay_; }

 protected:
  void training_step() override;
  [[nodiscard]] Learner& learner() override { return learner_; }
  [[nodiscard]] Weights acting_weights() override;
  void report_own(Result& stats) const override;
  void save_own(CheckpointData& out) const override;
  void load_own(const CheckpointData& in) override;
  void forget_waiting() override { folder_.forget_waiting(); }

 private:
  void learn_once();
  void adapt_noise(const std::vector<Fragment>& fragments);
  [[nodiscard]] const DQNConfig& options() const { return static_cast<const DQNConfig&>(config()); }

  DqnLearner learner_;
  NStepFolder folder_;
  ReplayBuffer replay_;
  Rng draws_;
  Schedule epsilon_;
  std::optional<ParameterNoise> parameter_noise_;
  std::vector<std::int32_t> rows_;
  std::vector<float> weights_;
  RecordBatch batch_;
  std::int64_t last_target_update_ = 0;  ///< env steps taken then
  std::int64_t target_updates_ = 0;
  std::int64_t forgotten_ = 0;  ///< env steps of a resumed run that the replay buffer never saw
};

}  // namespace knurl
