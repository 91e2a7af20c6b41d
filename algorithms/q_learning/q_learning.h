#pragma once

#include <memory>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/q_learning/q_learner.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"

namespace knurl {

/// Tabular Q-learning (Watkins and Dayan 1992) with workers that follow snapshots of the table.
class QLearning final : public Algorithm {
 public:
  explicit QLearning(std::unique_ptr<const AlgorithmConfig> resolved);

 protected:
  Result training_step() override;
  [[nodiscard]] Weights learner_weights() const override { return learner_.weights(); }
  void set_learner_weights(const Weights& weights) override { learner_.set_weights(weights); }
  void save_learner(CheckpointData& /*out*/) const override {}  // the table is all there is
  void load_learner(const CheckpointData& /*in*/) override {}

 private:
  QLearner learner_;
};

}  // namespace knurl
