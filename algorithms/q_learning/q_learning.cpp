#include "knurl/algorithms/q_learning/q_learning.h"

namespace knurl {

QLearning::QLearning(std::unique_ptr<const AlgorithmConfig> resolved)
    : Algorithm(std::move(resolved)),
      learner_(static_cast<const QLearningConfig&>(config()), observation_layout(), action_layout(),
               run_rng().split("learner")) {}

/// One round of temporal-difference control (Sutton and Barto 2018, sections 6.4 to 6.7): act,
/// learn, share.
void QLearning::training_step() {
  const std::int64_t timestep = env_steps_sampled();

  // act: workers explore from a snapshot of the table
  const std::vector<Fragment> fragments = sample(config().common().training.train_batch_size);

  // learn: every step updates one entry, as the rule says
  const double start = steady_seconds();
  const std::int64_t steps = learner_.update(fragments, timestep);
  count_trained(steps, steady_seconds() - start);

  // share: the next steps follow the new table
  share_weights();
}

}  // namespace knurl
