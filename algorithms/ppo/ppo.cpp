#include "knurl/algorithms/ppo/ppo.h"

#include "knurl/algorithms/ppo/ppo_batch.h"

namespace knurl {

PPO::PPO(std::unique_ptr<const AlgorithmConfig> resolved)
    : Algorithm(std::move(resolved)),
      learner_(static_cast<const PPOConfig&>(config()), observation_layout(), action_layout(),
               run_rng().split("learner")) {}

/// One iteration of PPO (Schulman et al. 2017, algorithm 1): act, judge, learn, share.
void PPO::training_step() {
  const auto& options = static_cast<const PPOConfig&>(config());
  const std::int64_t timestep = env_steps_sampled();

  // act: workers follow the policy of the last iteration
  const std::vector<Fragment> fragments = sample(options.common().training.train_batch_size);

  // judge: how much better than expected was each action
  const double start = steady_seconds();
  PpoBatch batch =
      make_ppo_batch(fragments,
                     {.observations = observation_layout(),
                      .net = learner_.net(),
                      .max_seq_len = options.common().training.model.max_seq_len,
                      .mask = learner_.mask()},
                     {.gamma = options.common().training.gamma,
                      .lambda = options.own().use_gae ? options.own().lambda_.value() : 1.0,
                      .use_critic = options.own().use_critic});
  if (*options.own().advantage_scaling == AdvantageScaling::batch) standardise_advantages(batch);

  // learn: epochs of minibatches on the clipped surrogate
  learner_.update(batch, timestep);
  count_trained(batch.rows.rows(), steady_seconds() - start);

  // share: the next fragments come from the new policy
  share_weights();
}

}  // namespace knurl
