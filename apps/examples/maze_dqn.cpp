// DQN on a maze from C++: configure, train, look at results, workers, weights and the model, save,
// take up again, evaluate, act.

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/dqn/dqn_config.h"
#include "knurl/core/runtime/runtime.h"

int main() {
  auto runtime = knurl::init({.num_cpus = 2});  // first in main

  auto config =
      knurl::DQNConfig()
          .environment("Maze-v0", {.env_config = {}, .render_env = false})
          .rollouts({.num_rollout_workers = 2,
                     .num_envs_per_worker = 10,
                     .create_env_on_local_worker = true})
          .training({.lr = 5e-4}, {.double_q = true, .num_atoms = 11, .v_min = 0, .v_max = 1})
          .exploration({.exploration_config = {.epsilon_timesteps = 4'000}})
          .debugging({.seed = 1});
  fmt::print("{}", pretty_print(config));

  auto algorithm = config.build();
  knurl::Result result;
  for (int i = 0; i < 10; ++i) result = algorithm->train();
  fmt::print("{}", pretty_print(result));

  // the model: what its heads share, and the heads
  knurl::Policy& policy = algorithm->get_policy();
  for (const char* part : {"base_model", "q_value_head", "state_value_head"}) {
    fmt::print("{}\n{}\n", part, policy.summary(part));
  }

  // weights by policy; they can be put back
  const auto weights = algorithm->get_weights();
  for (const auto& [policy_id, tensors] : weights) {
    fmt::print("{}: {} tensors after {} updates\n", policy_id, tensors.tensors.columns().size(),
               tensors.version);
  }
  algorithm->set_weights(weights);

  // something asked of every worker, where it lives
  const auto envs =
      algorithm->foreach_worker<[](knurl::RolloutWorker& worker) { return worker.num_envs(); }>();
  fmt::print("environments by worker: {}\n", fmt::join(envs, ", "));

  // what the model thinks of the first cell, and what it would do
  const std::int64_t start = 0;
  const auto q = algorithm->compute_action_values(start);
  fmt::print("values of down, left, up, right: {:.3f}\n", fmt::join(q.values, ", "));
  fmt::print("distribution of down: {:.2f}\n", fmt::join(q.distributions[0], ", "));
  const auto actions =
      algorithm->compute_actions({{"first", start}, {"last row", std::int64_t{20}}});
  fmt::print("in the last row: {}\n", std::get<std::int64_t>(actions.at("last row")));

  // a checkpoint is a directory; another algorithm comes out of it
  const auto checkpoint = algorithm->save();
  fmt::print("saved to {}\n", checkpoint.string());
  algorithm->stop();
  const auto restored = knurl::Algorithm::from_checkpoint(checkpoint);
  const knurl::Result evaluation = restored->evaluate();
  fmt::print("{}", pretty_print(evaluation));
  restored->train();

  const double steps = evaluation.number("evaluation/episode_len_mean").value_or(0.0);
  fmt::print("{} steps on average; 8 is the shortest way\n", steps);
  const bool down_or_right =
      std::get<std::int64_t>(restored->compute_single_action(start)) % 3 == 0;
  return steps == 8.0 && down_or_right ? 0 : 1;
}
