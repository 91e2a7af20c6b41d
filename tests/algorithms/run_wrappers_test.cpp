// Wrappers that the run carries out: tests/envs has the others.
#include <filesystem>

#include <gtest/gtest.h>

#include "algorithm_cases.h"
#include "knurl/algorithms/registry.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "scratch.h"

namespace knurl {
namespace {

namespace fs = std::filesystem;

const AlgorithmCase kPpo{"PPO", "PPO"};

struct Trained {
  std::vector<float> weights;
  std::string result;  ///< without times
  std::string evaluation;
};

/// Two iterations with these options.
Trained trained(const std::string& options, const fs::path& directory = {}) {
  const auto algorithm = config_of(kPpo, options)->build();
  if (!directory.empty()) algorithm->set_directory(directory);
  algorithm->train();
  const Result result = algorithm->train();
  const std::vector<float> weights = weights_of(*algorithm);
  const Result evaluation = algorithm->evaluate();
  EXPECT_EQ(weights_of(*algorithm), weights) << "statistics are frozen in evaluation";
  return {weights, fmt::format("{}", result.number("episode_reward_mean").value()),
          fmt::format("{}", evaluation.number("evaluation/episode_reward_mean").value())};
}

void expect_same(const Trained& a, const Trained& b) {
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.result, b.result);
  EXPECT_EQ(a.evaluation, b.evaluation);
}

TEST(RunWrappers, NormalisationByNameIsTheOptions) {
  const Trained plain = trained("{}");
  const Trained by_name =
      trained("{env_config: {wrappers: [NormalizeObservation, NormalizeReward]}}");
  expect_same(by_name, trained("{observation_filter: MeanStdFilter, normalize_rewards: true}"));
  EXPECT_NE(by_name.weights, plain.weights);
  EXPECT_NE(trained("{env_config: {wrappers: [NormalizeReward]}}").weights, by_name.weights);
  EXPECT_NE(trained("{env_config: {wrappers: [NormalizeObservation, {NormalizeReward: "
                    "{gamma: 0.5}}]}}")
                .weights,
            by_name.weights);
}

TEST(RunWrappers, EpsilonsAreHeeded) {
  const auto weights_with = [](const std::string& wrapper) {
    return trained(fmt::format("{{env_config: {{wrappers: [{}]}}}}", wrapper)).weights;
  };
  for (const char* name : {"NormalizeObservation", "NormalizeReward"}) {
    EXPECT_EQ(weights_with(name), weights_with(fmt::format("{{{}: {{epsilon: 1e-8}}}}", name)))
        << name;
    EXPECT_NE(weights_with(name), weights_with(fmt::format("{{{}: {{epsilon: 0.5}}}}", name)))
        << name;
  }
}

/// What resolving an algorithm's config fails with.
std::string refusal(const std::string& options, const std::string& algorithm = "PPO") {
  try {
    const auto config = make_config(algorithm);
    config->update(parse_yaml(options, "a.yaml"), "config");
    (void)config->resolved();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(RunWrappers, AnOptionThatSaysTheOppositeIsRefused) {
  EXPECT_EQ(refusal("env: CartPole-v1\nobservation_filter: NoFilter\nenv_config:\n  wrappers:\n"
                    "  - NormalizeObservation"),
            "a.yaml:5: env_config.wrappers: NormalizeObservation: observation_filter says the "
            "opposite; give one of them");
  EXPECT_EQ(refusal("env: CartPole-v1\nnormalize_rewards: false\nenv_config:\n  wrappers:\n"
                    "  - NormalizeReward: {gamma: 0.9}"),
            "a.yaml:5: env_config.wrappers: NormalizeReward: normalize_rewards says the opposite; "
            "give one of them");
  EXPECT_EQ(refusal("{env: CartPole-v1, observation_filter: MeanStdFilter, normalize_rewards: true,"
                    " env_config: {wrappers: [NormalizeObservation, NormalizeReward]}}"),
            "accepted")
      << "the same twice";
}

TEST(RunWrappers, NormalisationThatMeansNothingIsRefused) {
  EXPECT_EQ(
      refusal("{env: Maze-v0, env_config: {wrappers: [NormalizeObservation]}}", "QLearning"),
      "a.yaml:1: env_config.wrappers: NormalizeObservation: means nothing to QLearning; leave "
      "it out");
  EXPECT_EQ(refusal("{env: Maze-v0, env_config: {wrappers: [NormalizeReward]}}", "QLearning"),
            "accepted");
  EXPECT_EQ(refusal("{env: CartPole-v1, evaluation_interval: 1, evaluation_config: "
                    "{env_config: {wrappers: [NormalizeObservation]}}}"),
            "evaluation_config: rollouts.observation_filter = MeanStdFilter: the policy is that of "
            "training, made with NoFilter");
}

TEST(RunWrappers, RecordingChangesNothing) {
  const Scratch scratch;
  const fs::path& directory = scratch.path();
  expect_same(trained("{num_workers: 2, num_envs_per_worker: 3, env_config: {wrappers: "
                      "[{RecordEpisode: {every: 4, format: both}}]}}",
                      directory),
              trained("{}"));
  EXPECT_TRUE(fs::exists(directory / "recordings" / "training_episode_000000_worker_1_env_0.gif"));
  EXPECT_TRUE(
      fs::is_directory(directory / "recordings" / "training_episode_000004_worker_2_env_4"));
}

}  // namespace
}  // namespace knurl
