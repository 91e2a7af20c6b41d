#include "knurl/algorithms/q_learning/q_learning.h"

namespace knurl {

QLearning::QLearning(std::unique_ptr<const AlgorithmConfig> resolved)
    : Algorithm(std::move(resolved)),
      learner_(static_cast<const QLearningConfig&>(config()), observation_layout(),
               action_layout()) {}

/// One round of Q-learning (Sutton and Barto 2018, section 6.5): act, learn, share.
Result QLearning::training_step() {
  // act: workers explore from a snapshot of the table
  const std::vector<Fragment> fragments = sample();

  // learn: every step updates one entry, in the order of the envs
  const double start = now();
  std::int64_t steps = 0;
  for (const Fragment& fragment : fragments) {
    learner_.update(fragment.policies[0], env_steps_sampled());
    steps += fragment.env_steps;
  }
  count_trained(steps, now() - start);

  // share: the next steps follow the new table
  share_weights();
  Result stats = learner_.take_stats();
  stats.set("cur_epsilon",
            epsilon_at(config().common().exploration.exploration_config, env_steps_sampled()));
  return stats;
}

}  // namespace knurl
