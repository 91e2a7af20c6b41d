#include <atomic>

#include <gtest/gtest.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/dqn/dqn.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/base/error.h"
#include "knurl/envs/env.h"
#include "knurl/envs/registry.h"

namespace knurl {
namespace {

std::atomic<int> steps_until_error = 0;  // of all envs; below 1: none
std::atomic<int> episodes = 0;

/// Step t of the e-th episode of all envs shows 100 e + t. One step throws.
class Numbered : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Discrete{.n = 2000}, .action = Discrete{.n = 1}};
  }
  void reset(Rng& /*rng*/, ObservationOut observation) override {
    state_ = 100 * ++episodes;
    show(observation);
  }
  StepResult step(ActionView /*action*/, ObservationOut observation) override {
    if (--steps_until_error == 0) throw std::runtime_error("hiccup");
    ++state_;
    show(observation);
    return {.reward = 1.0};
  }

 protected:
  virtual void show(ObservationOut observation) const { observation.set_index(state_); }
  int state_ = 0;
};

/// The same as a number.
class NumberedBox final : public Numbered {
 public:
  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Box{.shape = {1}, .low = 0.0F, .high = 2000.0F},
            .action = Discrete{.n = 1}};
  }

 protected:
  void show(ObservationOut observation) const override {
    observation[0] = static_cast<float>(state_);
  }
};

/// Trains, survives the one error there is, and trains on.
void train_through(Algorithm& algorithm) {
  steps_until_error = 17;
  int errors = 0;
  for (int i = 0; i < 6; ++i) {
    try {
      algorithm.train();
    } catch (const Error&) {
      ++errors;
    }
  }
  ASSERT_EQ(errors, 1);
}

TEST(LostSteps, NoTransitionGoesAcrossThem) {
  for (const int workers : {0, 2}) {
    episodes = 0;
    DQNConfig config;
    config.environment<NumberedBox>("NumberedBox-v0")
        .rollouts({.num_rollout_workers = workers, .rollout_fragment_length = OrAuto<int>{5}})
        .training({.train_batch_size = 4, .model = {.fcnet_hiddens = {4}}},
                  {.num_steps_sampled_before_learning_starts = 1000,
                   .n_step = 3,
                   .hiddens = {4},
                   .replay_buffer_config = {.type = ReplayType::uniform}})
        .reporting({.min_sample_timesteps_per_iteration = 5})
        .debugging({.seed = 1});
    const auto algorithm = config.build();
    train_through(*algorithm);
    const ReplayBuffer& replay = dynamic_cast<DQN&>(*algorithm).replay();
    ASSERT_GT(replay.size(), 10);
    for (std::int64_t row = 0; row < replay.size(); ++row) {
      const float from = replay.rows().column<float>("obs")[row];
      EXPECT_EQ(replay.rows().column<float>("new_obs")[row], from + 3) << workers << " workers";
    }
  }
}

TEST(LostSteps, SarsaExpectsNothingAcrossThem) {
  for (const int workers : {0, 2}) {
    episodes = 0;
    QLearningConfig config;
    config.environment<Numbered>("Numbered-v0")
        .rollouts({.num_rollout_workers = workers, .rollout_fragment_length = OrAuto<int>{5}})
        .training({.gamma = 1.0, .lr = 1.0, .train_batch_size = 10},
                  {.update_rule = UpdateRule::sarsa})
        .reporting({.min_sample_timesteps_per_iteration = 10})
        .debugging({.seed = 1});
    const auto algorithm = config.build();
    auto weights = algorithm->get_weights();
    const auto values = weights["default_policy"].tensors.column<float>("q_table").span();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(10 * i);
    algorithm->set_weights(weights);
    train_through(*algorithm);
    weights = algorithm->get_weights();
    const auto learnt = weights["default_policy"].tensors.column<float>("q_table").span();
    int changed = 0;
    for (std::size_t i = 0; i < learnt.size(); ++i) {
      const auto before = static_cast<float>(10 * i);
      if (learnt[i] == before) continue;
      ++changed;
      EXPECT_EQ(learnt[i], 1.0F + before + 10.0F) << "state " << i << ", " << workers << " workers";
    }
    EXPECT_GT(changed, 20);
  }
}

TEST(LostSteps, SumsOfRewardsBeginAnew) {
  QLearningConfig config;
  config.environment<Numbered>("Numbered-v0", {.normalize_rewards = true})
      .rollouts({.rollout_fragment_length = OrAuto<int>{5}})
      .training({.train_batch_size = 5})
      .reporting({.min_sample_timesteps_per_iteration = 5})
      .debugging({.seed = 1});
  const auto algorithm = config.build();
  const auto sums = [&] {
    return algorithm->save_state().tensors("reward_sums.safetensors").column<double>("sum").span();
  };
  steps_until_error = 6;
  algorithm->train();
  EXPECT_EQ(sums().size(), 1U);
  EXPECT_THROW(algorithm->train(), Error);
  EXPECT_EQ(sums().size(), 0U);
}

}  // namespace
}  // namespace knurl
