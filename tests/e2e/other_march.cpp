// A user's program compiled for another instruction set than knurl's libraries: it must not matter.
// An env of its own, trained with PPO from C++.

#include <algorithm>

#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/envs/env.h"

namespace {

/// Walk right to the exit of a corridor. Reward 1 at the exit and -0.1 on the way.
class Corridor final : public knurl::Env {
 public:
  struct Config {
    int length = 5;
    static void fields(auto& self, auto&& field) {
      field("length", self.length, "cells to the exit", knurl::Range{1, 1'000});
    }
  };

  explicit Corridor(Config config) : length_(config.length) {}

  knurl::EnvSpec spec() const override {
    return {
        .observation = knurl::Box{.shape = {1}, .low = 0.0F, .high = static_cast<float>(length_)},
        .action = knurl::Discrete{.n = 2},
        .max_episode_steps = 100};
  }

  void reset(knurl::Rng& /*rng*/, knurl::ObservationOut observation) override {
    cell_ = 0;
    observation[0] = 0.0F;
  }

  knurl::StepResult step(knurl::ActionView action, knurl::ObservationOut observation) override {
    cell_ = std::max(0, cell_ + (action.index() == 1 ? 1 : -1));
    observation[0] = static_cast<float>(cell_);
    const bool at_exit = cell_ == length_;
    return {.reward = at_exit ? 1.0 : -0.1, .terminated = at_exit};
  }

 private:
  const int length_;
  int cell_ = 0;
};

}  // namespace

int main() {
  auto algorithm =
      knurl::PPOConfig()
          .environment<Corridor>("Corridor-v0")
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
