#pragma once

#include <memory>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/q_learning/q_learner.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"

namespace knurl {

/// Tabular temporal-difference control, Q-learning (Watkins and Dayan 1992) by default, with
/// workers that follow snapshots of the table.
class QLearning final : public Algorithm {
 public:
  explicit QLearning(std::unique_ptr<const AlgorithmConfig> resolved);

 protected:
  void training_step() override;
  [[nodiscard]] Learner& learner() override { return learner_; }
  void forget_waiting() override { learner_.forget_waiting(); }

 private:
  QLearner learner_;
};

}  // namespace knurl
