#include "knurl/algorithms/q_learning/q_learning.h"

namespace knurl {

QLearning::QLearning(std::unique_ptr<const AlgorithmConfig> resolved)
    : Algorithm(std::move(resolved)),
      learner_(static_cast<const QLearningConfig&>(config()), observation_layout(),
               action_layout()) {}

/// One round of Q-learning (Sutton and Barto 2018, section 6.5): act, learn, share.
void QLearning::training_step() {
  const std::int64_t timestep = env_steps_sampled();

  // act: workers explore from a snapshot of the table
  const std::vector<Fragment> fragments = sample(config().common().training.train_batch_size);

  // learn: every step updates one entry
  const double start = steady_seconds();
  const std::int64_t steps = learner_.update(fragments, timestep);
  count_trained(steps, steady_seconds() - start);

  // share: the next steps follow the new table
  share_weights();
}

}  // namespace knurl
