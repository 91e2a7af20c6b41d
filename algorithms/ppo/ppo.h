#pragma once

#include <memory>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/ppo/ppo_learner.h"

namespace knurl {

/// Proximal policy optimization (Schulman et al. 2017), as RLlib runs it.
class PPO final : public Algorithm {
 public:
  explicit PPO(std::unique_ptr<const AlgorithmConfig> resolved);

 protected:
  Result training_step() override;
  [[nodiscard]] Weights learner_weights() const override { return learner_.weights(); }
  void set_learner_weights(const Weights& weights) override { learner_.set_weights(weights); }
  void save_learner(CheckpointData& out) const override { learner_.save(out); }
  void load_learner(const CheckpointData& in) override { learner_.load(in); }

 private:
  PPOLearner learner_;
};

}  // namespace knurl
