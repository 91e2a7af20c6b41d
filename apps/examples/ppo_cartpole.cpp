// PPO from C++: configure, train, evaluate, save, take up again, act.

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/core/runtime/runtime.h"

int main() {
  auto runtime = knurl::init({.num_cpus = 2});  // first in main

  auto config = knurl::PPOConfig()
                    .environment("CartPole-v1")
                    .rollouts({.num_rollout_workers = 2, .num_envs_per_worker = 4})
                    .training({.gamma = 0.98,
                               .lr = 1e-3,
                               .grad_clip = 0.5,
                               .train_batch_size = 400,
                               .model = {.fcnet_hiddens = {64, 64}}},
                              {.lambda_ = 0.8,
                               .use_kl_loss = false,
                               .sgd_minibatch_size = 200,
                               .num_sgd_iter = 10,
                               .clip_param = 0.2,
                               .vf_clip_param = 10'000.0})
                    .reporting({.min_sample_timesteps_per_iteration = 4'000})
                    .debugging({.seed = 1});
  fmt::print("{}", pretty_print(config));

  auto algorithm = config.build();
  for (int i = 0; i < 15; ++i) {
    const knurl::Result result = algorithm->train();
    fmt::print("{}: return {}\n", algorithm->iteration(),
               result.number("episode_reward_mean").value_or(0.0));
  }
  fmt::print("{}", pretty_print(algorithm->evaluate()));
  fmt::print("{}", algorithm->get_policy().summary());

  const auto checkpoint = algorithm->save();
  algorithm->stop();
  fmt::print("saved to {}\n", checkpoint.string());

  const auto restored = knurl::Algorithm::from_checkpoint(checkpoint);
  const auto action = restored->compute_single_action(std::vector<float>{0.0F, 0.0F, 0.1F, 0.0F});
  fmt::print("a pole that leans right: push {}\n",
             std::get<std::int64_t>(action) == 1 ? "right" : "left");
  return std::get<std::int64_t>(action) == 1 ? 0 : 1;
}
