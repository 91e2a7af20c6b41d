// Wrappers that the run carries out: tests/envs has the others.
#include <filesystem>

#include <gtest/gtest.h>

#include "algorithm_cases.h"
#include "knurl/core/base/error.h"

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

TEST(RunWrappers, AnOptionThatSaysTheOppositeIsRefused) {
  const auto refusal = [](const std::string& options) -> std::string {
    try {
      (void)config_of(kPpo, options)->build();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_NE(refusal("{observation_filter: NoFilter, env_config: {wrappers: "
                    "[NormalizeObservation]}}")
                .find("observation_filter says the opposite"),
            std::string::npos);
  EXPECT_EQ(refusal("{observation_filter: MeanStdFilter, env_config: {wrappers: "
                    "[NormalizeObservation]}}"),
            "accepted");
}

TEST(RunWrappers, RecordingChangesNothing) {
  const fs::path directory =
      fs::temp_directory_path() / fmt::format("knurl-run-wrappers-{}", ::getpid());
  expect_same(trained("{num_workers: 2, num_envs_per_worker: 3, env_config: {wrappers: "
                      "[{RecordEpisode: {every: 4, format: both}}]}}",
                      directory),
              trained("{}"));
  EXPECT_TRUE(fs::exists(directory / "recordings" / "training_episode_000000_worker_1_env_0.gif"));
  EXPECT_TRUE(
      fs::is_directory(directory / "recordings" / "training_episode_000004_worker_2_env_4"));
  fs::remove_all(directory);
}

}  // namespace
}  // namespace knurl
