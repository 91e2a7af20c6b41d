#include "knurl/algorithms/q_learning/q_learning_config.h"

#include "knurl/algorithms/q_learning/q_learning.h"
#include "knurl/core/base/error.h"
#include "knurl/models/tabular/tabular_policy.h"

namespace knurl {

QLearningConfig::QLearningConfig() {
  CommonOptions& options = change();
  options.rollouts.rollout_fragment_length = Default{OrAuto<int>{}};
  options.training.lr = Default{0.1};
  options.training.train_batch_size = Default{10};
  options.exploration.exploration_config.type = Default{ExplorationType::epsilon_greedy};
  options.exploration.exploration_config.final_epsilon = Default{0.1};
  options.exploration.exploration_config.epsilon_timesteps = Default{10'000};
  options.reporting.min_sample_timesteps_per_iteration = Default{1'000};
}

std::unique_ptr<Policy> QLearningConfig::make_policy(const EnvSpec& env, Acting acting) const {
  return std::make_unique<TabularPolicy>(
      SpaceLayout(env.observation), SpaceLayout(env.action),
      make_exploration(common().exploration.exploration_config, acting));
}

void QLearningConfig::check_own() const {
  const TrainingOptions& training = common().training;
  if (common().exploration.exploration_config.type.value() != ExplorationType::epsilon_greedy) {
    fail(ErrorKind::config,
         "exploration.exploration_config.type = {}: action values are no probabilities; use "
         "EpsilonGreedy",
         name_of(common().exploration.exploration_config.type.value()));
  }
  for (const auto& [step, lr] : training.lr->points()) {
    if (lr > 1.0) fail(ErrorKind::config, "training.lr = {}: must be in [0, 1] for a table", lr);
  }
}

std::unique_ptr<Algorithm> QLearningConfig::make_algorithm(
    std::unique_ptr<const AlgorithmConfig> resolved) const {
  return std::make_unique<QLearning>(std::move(resolved));
}

}  // namespace knurl
