// A user's program compiled for another instruction set than knurl's libraries: it must not matter.
// The env of the examples, trained with PPO from C++.

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/apps/examples/corridor.h"

int main() {
  auto algorithm =
      knurl::PPOConfig()
          .environment<example::Corridor>("Corridor-v0", {.length = 5})
          .rollouts({.num_rollout_workers = 2, .num_envs_per_worker = 4})
          .training({.lr = 3e-3, .train_batch_size = 400, .model = {.fcnet_hiddens = {32}}},
                    {.sgd_minibatch_size = 100, .num_sgd_iter = 10})
          .debugging({.seed = 1})
          .build();
  for (int i = 0; i < 15; ++i) algorithm->train();
  const double greedy = *algorithm->evaluate().number("evaluation/episode_reward_mean");
  fmt::print("greedy return {}\n", greedy);
  return greedy > 0.59 ? 0 : 1;  // five steps: 1 - 4 * 0.1
}
