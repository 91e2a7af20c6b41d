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
  void training_step() override;
  [[nodiscard]] Learner& learner() override { return learner_; }

 private:
  PpoLearner learner_;
};

}  // namespace knurl
