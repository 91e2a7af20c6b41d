#include "knurl/algorithms/algorithm.h"

#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "counter_env.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/config/yaml.h"
#include "scratch.h"

namespace knurl {
namespace {

PPOConfig small_ppo(int workers = 0) {
  PPOConfig config;
  config.environment("CartPole-v1")
      .rollouts(
          {.num_rollout_workers = workers, .num_envs_per_worker = workers == 0 ? 4 : 4 / workers})
      .training({.lr = 1e-3, .train_batch_size = 200, .model = {.fcnet_hiddens = {16}}},
                {.sgd_minibatch_size = 50, .num_sgd_iter = 3})
      .debugging({.seed = 5});
  return config;
}

QLearningConfig small_q_learning(int workers = 0) {
  QLearningConfig config;
  config.environment("Maze-v0")
      .rollouts({.num_rollout_workers = workers, .num_envs_per_worker = 2})
      .training({.gamma = 0.9})
      .exploration({.exploration_config = {.epsilon_timesteps = 5'000}})
      .debugging({.seed = 5});
  return config;
}

bool same_weights(Algorithm& a, Algorithm& b) {
  const Weights x = a.get_weights().at("default_policy");
  const Weights y = b.get_weights().at("default_policy");
  return x.version == y.version && std::ranges::equal(x.tensors.memory(), y.tensors.memory());
}

TEST(Algorithm, TabularRunsAreRestoredToo) {
  const Scratch scratch;
  const auto whole = small_q_learning().build();
  for (int i = 0; i < 6; ++i) whole->train();
  const auto first = small_q_learning().build();
  for (int i = 0; i < 3; ++i) first->train();
  const auto second = Algorithm::from_checkpoint(first->save(scratch / "checkpoint"));
  Result last;
  for (int i = 0; i < 3; ++i) last = second->train();
  EXPECT_TRUE(same_weights(*whole, *second));
  // epsilon goes on where it was
  EXPECT_NEAR(*last.number("info/learner/default_policy/learner_stats/cur_epsilon"), 0.1, 1e-9);
}

TEST(Algorithm, ReportsRllibsKeys) {
  const auto algorithm = small_ppo().build();
  const Result result = algorithm->train();
  for (const char* name : {"episode_reward_mean",
                           "episode_reward_min",
                           "episode_reward_max",
                           "episode_len_mean",
                           "episodes_this_iter",
                           "episodes_total",
                           "num_env_steps_sampled",
                           "num_env_steps_trained",
                           "num_agent_steps_sampled",
                           "timesteps_total",
                           "training_iteration",
                           "time_this_iter_s",
                           "time_total_s",
                           "time_since_restore",
                           "timers/sample_time_ms",
                           "timers/learn_time_ms",
                           "policy_reward_mean/default_policy",
                           "hist_stats/episode_reward",
                           "info/learner/default_policy/learner_stats/cur_kl_coeff",
                           "info/learner/default_policy/learner_stats/total_loss",
                           "info/learner/default_policy/learner_stats/vf_explained_var",
                           "info/learner/default_policy/learner_stats/grad_gnorm"}) {
    EXPECT_TRUE(result.find(name)) << name;
    EXPECT_TRUE(algorithm->metric_names().find(name)) << name;
  }
  EXPECT_EQ(result.number("num_env_steps_sampled"), 200.0);
  EXPECT_EQ(algorithm->metric_names().canonical("env_runners/episode_return_mean"),
            "episode_reward_mean");
  EXPECT_EQ(algorithm->metric_names().canonical("num_env_steps_sampled_lifetime"),
            "timesteps_total");
}

TEST(Algorithm, NoEpisodeYetIsNotANumber) {
  register_env_once<CounterEnv>("Counter-v0");
  PPOConfig config;
  config.environment("Counter-v0", {.env_config = parse_yaml("{length: 1000}", "test")})
      .rollouts({.num_rollout_workers = 0})
      .training({.train_batch_size = 100, .model = {.fcnet_hiddens = {4}}},
                {.sgd_minibatch_size = 100, .num_sgd_iter = 1});
  const auto algorithm = config.build();
  const Result result = algorithm->train();
  EXPECT_EQ(*result.find("episode_reward_mean"), Result::Value(Result::Nothing{"no episode yet"}));
  EXPECT_EQ(result.number("episode_reward_mean"), std::nullopt);
  EXPECT_NE(pretty_print(result).find("episode_reward_mean: no episode yet"), std::string::npos);
  EXPECT_NE(result.to_json().find("\"episode_reward_mean\":null"), std::string::npos);
}

TEST(Algorithm, ReturnsAreTheEnvsOwn) {
  register_env_once<CounterEnv>("Counter-v0");
  PPOConfig config;
  config.environment("Counter-v0", {.env_config = parse_yaml("{length: 5}", "test")})
      .rollouts({.num_rollout_workers = 0})
      .training({.train_batch_size = 50, .model = {.fcnet_hiddens = {4}}},
                {.sgd_minibatch_size = 50, .num_sgd_iter = 1});
  const Result result = config.build()->train();
  EXPECT_EQ(result.number("episode_reward_mean"), 15.0);
  EXPECT_EQ(result.number("episode_len_mean"), 5.0);
  EXPECT_EQ(result.number("episodes_this_iter"), 10.0);
  EXPECT_EQ(result.number("custom_metrics/count_mean"), 5.0);
}

TEST(Algorithm, ActsOnPlainValues) {
  const auto q = small_q_learning().build();
  for (int i = 0; i < 20; ++i) q->train();
  std::int64_t cell = 0;
  for (int step = 0; step < 8; ++step) {
    const auto action = std::get<std::int64_t>(q->compute_single_action(cell));
    ASSERT_TRUE(action == 0 || action == 3) << "down or right";
    cell += action == 0 ? 5 : 1;
  }
  EXPECT_EQ(cell, 24);

  const auto ppo = small_ppo().build();
  EXPECT_TRUE(ppo->compute_actions({}).empty());
  const std::vector<float> upright{0.0F, 0.0F, 0.0F, 0.0F};
  const auto actions = ppo->compute_actions({{"a", upright}, {"b", upright}});
  EXPECT_EQ(actions.at("a"), actions.at("b"));
  EXPECT_THROW(ppo->compute_single_action(std::int64_t{3}), Error);
  EXPECT_THROW(ppo->compute_single_action(std::vector<float>{1.0F}), Error);
}

TEST(Algorithm, ThePhasesOfSamplingFillNoMoreThanItsTime) {
  for (const int workers : {0, 2}) {
    const Result result = small_q_learning(workers).build()->train();
    const auto ms = [&](const char* name) {
      return result.number(fmt::format("timers/{}_time_ms", name)).value();
    };
    EXPECT_GT(ms("env"), 0.0);
    EXPECT_GT(ms("inference"), 0.0);
    EXPECT_GT(ms("transport"), 0.0);
    EXPECT_LE(ms("env") + ms("inference") + ms("transport"), ms("sample"));
    EXPECT_LE(ms("sample") + ms("learn") + ms("synch_weights"), ms("training_iteration"));
  }
}

TEST(Algorithm, WeightsCanBeTakenAndGiven) {
  const auto a = small_ppo().build();
  const auto b = small_ppo().debugging({.seed = 6}).build();
  EXPECT_FALSE(same_weights(*a, *b));
  a->train();
  b->set_weights(a->get_weights());
  const Weights x = a->get_weights().at("default_policy");
  const Weights y = b->get_weights().at("default_policy");
  EXPECT_TRUE(std::ranges::equal(x.tensors.memory(), y.tensors.memory()));
  EXPECT_NE(a->get_policy().summary().find("policy.hidden.0"), std::string::npos);
}

TEST(Algorithm, AFilterGoesOnFromTheWeightsThatItIsGiven) {
  const auto filtered = [](int seed) {
    return small_ppo()
        .rollouts({.observation_filter = FilterType::mean_std})
        .debugging({.seed = seed})
        .build();
  };
  const auto a = filtered(5);
  const auto b = filtered(6);
  for (int i = 0; i < 3; ++i) a->train();
  b->set_weights(a->get_weights());
  EXPECT_EQ(b->get_weights().at("default_policy").observed, 600);
  b->train();
  EXPECT_EQ(b->get_weights().at("default_policy").observed, 800);
  EXPECT_EQ(weights_of(a->save_state()).observed, 600);
}

TEST(Algorithm, ACheckpointOfAnotherFunctionIsRefused) {
  const auto tanh = small_ppo().build();
  const auto relu = small_ppo().training({.model = {.fcnet_activation = Activation::relu}}).build();
  try {
    relu->load_state(tanh->save_state());
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::checkpoint);
    EXPECT_STREQ(error.what(),
                 "training.model.fcnet_activation = relu: the policy is that of the checkpoint, "
                 "made with tanh");
  }
}

TEST(Algorithm, AnInfiniteLearningRateStopsBeforeASpoiltCheckpoint) {
  const auto algorithm = small_ppo().training({.lr = 1e39}).build();
  EXPECT_THROW(
      {
        for (int i = 0; i < 5; ++i) {
          algorithm->train();
          (void)algorithm->save_state();
        }
      },
      Error);
}

TEST(Algorithm, AnotherAlgorithmsOrEnvsCheckpointIsRefused) {
  const auto ppo = small_ppo().build();
  const auto q = small_q_learning().build();
  EXPECT_THROW(ppo->load_state(q->save_state()), Error);
  PPOConfig other;
  other.environment("Pendulum-v1")
      .rollouts({.num_rollout_workers = 0})
      .training({.train_batch_size = 200, .model = {.fcnet_hiddens = {16}}});
  EXPECT_THROW(other.build()->load_state(ppo->save_state()), Error);
}

TEST(Algorithm, StopEndsTheWorkers) {
  const auto algorithm = small_q_learning(2).build();
  algorithm->train();
  algorithm->stop();
  EXPECT_THROW(algorithm->train(), Error);
}

/// What build() throws.
std::string refusal_of(PPOConfig config) {
  try {
    (void)config.build();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
    return error.what();
  }
  return "accepted";
}

/// An env of any spaces that does nothing.
template <int observations, int actions>
class IdleEnv final : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override {
    constexpr std::int64_t kMany = std::int64_t{1} << 40;
    return {.observation = Discrete{.n = observations > 0 ? observations : kMany},
            .action = Discrete{.n = actions > 0 ? actions : kMany}};
  }
  void reset(Rng&, ObservationOut observation) override { observation.as<std::int64_t>()[0] = 0; }
  StepResult step(ActionView, ObservationOut observation) override {
    observation.as<std::int64_t>()[0] = 7;
    return {};
  }
};

TEST(Algorithm, SpacesThatAreTooLargeAreRefusedByName) {
  PPOConfig observations;
  observations.environment<IdleEnv<0, 2>>("ManyObservations-v0");
  EXPECT_NE(refusal_of(observations).find("1099511627776 numbers are too many for a net"),
            std::string::npos);
  PPOConfig actions;
  actions.environment<IdleEnv<2, 0>>("ManyActions-v0");
  EXPECT_NE(refusal_of(actions).find("1099511627776 is more than"), std::string::npos);
  PPOConfig maze;
  maze.environment("Maze-v0", {.env_config = parse_yaml(
                                   "{rows: 256, columns: 256, random_goal: true}", "test")});
  EXPECT_NE(refusal_of(maze).find("too many"), std::string::npos);
  QLearningConfig table;
  table.environment<IdleEnv<2, 0>>("ManyActions-v0");
  EXPECT_THROW(table.build(), Error);
}

TEST(Algorithm, ANumberOfEnvsBeyondReasonIsRefused) {
  const auto refusal = [](const RolloutOptions& options) {
    return refusal_of(small_ppo().rollouts(options));
  };
  EXPECT_NE(refusal({.num_rollout_workers = 4096, .num_envs_per_worker = 1 << 20})
                .find("at most 1048576 environments"),
            std::string::npos);
  EXPECT_NE(refusal({.num_envs_per_worker = 1 << 10, .rollout_fragment_length = 1 << 30})
                .find("rollouts.rollout_fragment_length = 1073741824"),
            std::string::npos);
}

TEST(Algorithm, AWholeNumberOutsideItsSpaceIsNamed) {
  for (const int workers : {0, 1}) {
    PPOConfig config;
    config.environment<IdleEnv<2, 2>>("SevenOfTwo-v0")
        .rollouts({.num_rollout_workers = workers})
        .training({.train_batch_size = 50, .model = {.fcnet_hiddens = {4}}},
                  {.sgd_minibatch_size = 50});
    const auto algorithm = config.build();
    try {
      algorithm->train();
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_NE(
          std::string(error.what())
              .find("SevenOfTwo-v0 (worker " + std::to_string(workers) +
                    ", env 0): episode 0, step 1: observation, element 0: 7 is not in [0, 1]"),
          std::string::npos)
          << error.what();
    }
  }
}

TEST(Algorithm, TheKlCoefficientGoesOnUnlessAnotherIsGiven) {
  const auto first = small_ppo().build();
  for (int i = 0; i < 3; ++i) first->train();
  const CheckpointData state = first->save_state();
  const auto next_coefficient = [&](PpoOptions options) {
    PPOConfig config = small_ppo();
    config.training({}, options);
    const auto algorithm = config.build();
    algorithm->load_state(state);
    return algorithm->train()
        .number("info/learner/default_policy/learner_stats/cur_kl_coeff")
        .value();
  };
  const double adapted = next_coefficient({});
  EXPECT_NE(adapted, 0.2);
  EXPECT_EQ(next_coefficient({.kl_coeff = 0.7}), 0.7);
  EXPECT_EQ(next_coefficient({.use_kl_loss = false}), 0.0);
}

TEST(Algorithm, AfterStopNothingIsRestored) {
  const auto algorithm = small_ppo().build();
  const CheckpointData state = algorithm->save_state();
  algorithm->stop();
  EXPECT_THROW(algorithm->load_state(state), Error);
}

TEST(Algorithm, ARefusedStateChangesNothing) {
  const auto algorithm = small_ppo().build();
  const auto twin = small_ppo().build();
  const auto other = small_ppo(2).build();
  other->train();
  EXPECT_THROW(algorithm->load_state(other->save_state()), Error);
  EXPECT_EQ(algorithm->iteration(), 0);
  algorithm->train();
  twin->train();
  EXPECT_TRUE(same_weights(*algorithm, *twin));
}

TEST(Algorithm, SchedulesSurviveBeingWrittenOut) {
  PPOConfig config;
  config.environment("CartPole-v1").debugging({.seed = 1});
  config.training({.lr_schedule = Schedule({{0, 0.1}, {100, 0.2}})},
                  {.entropy_coeff_schedule = Schedule({{0, 0.1}, {100, 0.0}})});
  PPOConfig read = PPOConfig::from_yaml(config.to_yaml());
  EXPECT_EQ(to_json(read.resolved()->to_value()), to_json(config.resolved()->to_value()));
}

/// Takes long over its third step.
class SlowEnv final : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Box{.shape = {1}}, .action = Discrete{.n = 2}};
  }
  void reset(Rng&, ObservationOut observation) override {
    steps_ = 0;
    observation[0] = 0.0F;
  }
  StepResult step(ActionView, ObservationOut observation) override {
    if (++steps_ == 3) std::this_thread::sleep_for(std::chrono::milliseconds(500));
    observation[0] = 1.0F;
    return {};
  }

 private:
  int steps_ = 0;
};

TEST(Algorithm, AWorkerThatDoesNotReportIsNamed) {
  PPOConfig config;
  config.environment<SlowEnv>("Slow-v0")
      .rollouts({.num_rollout_workers = 2, .sample_timeout_s = 0.2})
      .training({.train_batch_size = 10, .model = {.fcnet_hiddens = {4}}},
                {.sgd_minibatch_size = 10, .num_sgd_iter = 1});
  const auto algorithm = config.build();
  ::testing::internal::CaptureStderr();
  algorithm->train();
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("rollout worker 1, 2 has not reported for 0.2 s; waiting on"),
            std::string::npos)
      << text;
}

}  // namespace
}  // namespace knurl
