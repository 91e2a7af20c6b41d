#include "knurl/algorithms/algorithm.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "counter_env.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/core/config/yaml.h"

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

/// Results without what clocks say.
Result timeless(const Result& result) {
  Result out;
  for (const auto& [name, value] : result.entries()) {
    const bool timed = name.starts_with("time") || name.starts_with("sampler_perf") ||
                       name.find("throughput") != std::string::npos;
    if (!timed || name.starts_with("timesteps")) out.set(name, value);
  }
  return out;
}

bool same_weights(Algorithm& a, Algorithm& b) {
  const Weights x = a.get_weights().at("default_policy");
  const Weights y = b.get_weights().at("default_policy");
  return x.version == y.version && std::ranges::equal(x.tensors.memory(), y.tensors.memory());
}

class Scratch {
 public:
  Scratch()
      : path_(std::filesystem::temp_directory_path() / fmt::format("knurl-test-{}", ::getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~Scratch() { std::filesystem::remove_all(path_); }
  [[nodiscard]] std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

TEST(Algorithm, TheSameSeedGivesTheSameRun) {
  const auto a = small_ppo().build();
  const auto b = small_ppo().build();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(timeless(a->train()), timeless(b->train()));
  EXPECT_TRUE(same_weights(*a, *b));
  const auto c = small_ppo().debugging({.seed = 6}).build();
  c->train();
  EXPECT_FALSE(same_weights(*a, *c));
}

TEST(Algorithm, TheNumberOfWorkersChangesNothing) {
  const auto one = small_ppo(0).build();
  const auto two = small_ppo(2).build();
  for (int i = 0; i < 3; ++i) {
    one->train();
    two->train();
  }
  EXPECT_TRUE(same_weights(*one, *two));
}

TEST(Algorithm, ARestoredRunIsTheRunThatWasNotInterrupted) {
  const Scratch scratch;
  const auto whole = small_ppo(2).build();
  for (int i = 0; i < 4; ++i) whole->train();

  const auto first = small_ppo(2).build();
  for (int i = 0; i < 2; ++i) first->train();
  const auto checkpoint = first->save(scratch / "checkpoint");
  const auto second = Algorithm::from_checkpoint(checkpoint);
  second->train();
  const Result last = second->train();
  EXPECT_TRUE(same_weights(*whole, *second));
  EXPECT_EQ(last.number("training_iteration"), 4.0);
  EXPECT_EQ(last.number("timesteps_total"), 800.0);
  EXPECT_EQ(last.number("iterations_since_restore"), 2.0);
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

TEST(Algorithm, EvaluationLeavesTrainingAlone) {
  const auto plain = small_ppo().build();
  const auto evaluated = small_ppo().evaluation({.evaluation_interval = 1}).build();
  for (int i = 0; i < 2; ++i) {
    plain->train();
    const Result result = evaluated->train();
    EXPECT_TRUE(result.number("evaluation/episode_reward_mean").has_value());
    EXPECT_EQ(result.number("evaluation/episodes_this_iter"), 10.0);
  }
  EXPECT_TRUE(same_weights(*plain, *evaluated));
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
  // whatever is reported has an entry in the glossary
  for (const auto& entry : result.entries()) {
    EXPECT_TRUE(algorithm->metric_names().find(entry.name)) << entry.name;
  }
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
  const std::vector<float> upright{0.0F, 0.0F, 0.0F, 0.0F};
  const auto actions = ppo->compute_actions({{"a", upright}, {"b", upright}});
  EXPECT_EQ(actions.at("a"), actions.at("b"));
  EXPECT_THROW(ppo->compute_single_action(std::int64_t{3}), Error);
  EXPECT_THROW(ppo->compute_single_action(std::vector<float>{1.0F}), Error);
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

}  // namespace
}  // namespace knurl
