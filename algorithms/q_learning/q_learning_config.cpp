#include "knurl/algorithms/q_learning/q_learning_config.h"

#include "knurl/algorithms/q_learning/q_learning.h"
#include "knurl/core/base/error.h"

namespace knurl {

QLearningConfig::QLearningConfig() {
  CommonOptions& options = change();
  options.rollouts.rollout_fragment_length = Default{OrAuto<int>{}};
  options.training.lr = Default{0.1};
  options.training.train_batch_size = Default{10};
  options.exploration.exploration_config.type = Default{ExplorationType::epsilon_greedy};
  options.exploration.exploration_config.final_epsilon = Default{0.1};
  options.exploration.exploration_config.epsilon_timesteps = Default{10'000};
  options.reporting.min_sample_timesteps_per_iteration = Default{10'000};
}

std::unique_ptr<Policy> QLearningConfig::make_policy(const EnvSpec& env, Acting acting,
                                                     const WorkerPlace& place) const {
  return std::make_unique<TabularPolicy>(
      SpaceLayout(env.observation), SpaceLayout(env.action),
      make_exploration(common().exploration.exploration_config, acting, place), tables());
}

std::vector<MetricInfo> QLearningConfig::learner_metrics() const {
  return {
      {"mean_td_error", {"td_error_mean"}, "mean size of the errors that were learnt from"},
      {"mean_q", {"qf_mean"}, "mean of the table"},
      {"min_q", {"qf_min"}, "least value in the table"},
      {"max_q", {"qf_max"}, "largest value in the table"},
      {"cur_lr", {"default_optimizer_learning_rate"}, "learning rate (step size) of a first visit"},
      {"cur_epsilon", {}, "chance of a random action"}};
}

void QLearningConfig::check_own() const {
  const TrainingOptions& training = common().training;
  if (common().exploration.exploration_config.type.value() != ExplorationType::epsilon_greedy) {
    fail(ErrorKind::config,
         "exploration.exploration_config.type = {}: action values are no probabilities; use "
         "EpsilonGreedy",
         name_of(common().exploration.exploration_config.type.value()));
  }
  const Schedule& lr = training.lr_schedule->has_value() ? **training.lr_schedule : *training.lr;
  for (const auto& [step, value] : lr.points()) {
    if (value > 1.0) {
      fail(ErrorKind::config, "training.{} = {}: must be in [0, 1] for a table",
           training.lr_schedule->has_value() ? "lr_schedule" : "lr", value);
    }
  }
}

std::unique_ptr<Algorithm> QLearningConfig::make_algorithm(
    std::unique_ptr<const AlgorithmConfig> resolved) const {
  return std::make_unique<QLearning>(std::move(resolved));
}

}  // namespace knurl
