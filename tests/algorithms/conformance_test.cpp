// What holds for every algorithm, whatever it learns.

#include <algorithm>

#include <gtest/gtest.h>

#include "algorithm_cases.h"
#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/determinism.h"
#include "knurl/algorithms/glossary.h"
#include "knurl/algorithms/registry.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/tune/trial.h"
#include "scratch.h"

namespace knurl {
namespace {

/// Results without what clocks and numbers of workers say.
Result timeless(const Result& result) {
  Result out;
  for (const auto& [name, value] : result.entries()) {
    if (!is_timed(name) && name != "num_healthy_workers" && !name.ends_with("since_restore"))
      out.set(name, value);
  }
  return out;
}

std::vector<Result> train(Algorithm& algorithm, int iterations) {
  std::vector<Result> out;
  for (int i = 0; i < iterations; ++i) out.push_back(timeless(algorithm.train()));
  return out;
}

class EveryAlgorithm : public ::testing::TestWithParam<AlgorithmCase> {};

TEST_P(EveryAlgorithm, TheSameSeedGivesTheSameRun) {
  const auto a = config_of(GetParam())->build();
  const auto b = config_of(GetParam())->build();
  EXPECT_EQ(train(*a, 3), train(*b, 3));
  EXPECT_EQ(weights_of(*a), weights_of(*b));
  const auto c = config_of(GetParam(), "{seed: 6}")->build();
  train(*c, 3);
  EXPECT_NE(weights_of(*a), weights_of(*c));
}

TEST_P(EveryAlgorithm, HowEnvsAreSharedOutChangesNothing) {
  const auto one = config_of(GetParam())->build();
  const std::vector<Result> expected = train(*one, 4);
  for (const char* split :
       {"{num_workers: 1}", "{num_workers: 2, num_envs_per_worker: 3}",
        "{num_workers: 3, num_envs_per_worker: 2}", "{num_workers: 6, num_envs_per_worker: 1}"}) {
    const auto several = config_of(GetParam(), split)->build();
    EXPECT_EQ(train(*several, 4), expected) << split;
    EXPECT_EQ(weights_of(*several), weights_of(*one)) << split;
  }
}

TEST_P(EveryAlgorithm, WholeEpisodesAreLearntFromHoweverEnvsAreSharedOut) {
  const std::string whole = "batch_mode: complete_episodes, env_config: {max_episode_steps: 30}";
  const auto one = config_of(GetParam(), "{" + whole + "}")->build();
  const std::vector<Result> expected = train(*one, 2);
  EXPECT_NE(expected[1].number("num_env_steps_trained"), 0.0);
  for (const char* split :
       {"num_workers: 2, num_envs_per_worker: 3", "num_workers: 6, num_envs_per_worker: 1"}) {
    const auto several = config_of(GetParam(), fmt::format("{{{}, {}}}", whole, split))->build();
    EXPECT_EQ(train(*several, 2), expected) << split;
    EXPECT_EQ(weights_of(*several), weights_of(*one)) << split;
  }
}

TEST_P(EveryAlgorithm, ARestoredRunIsTheRunThatWasNotInterrupted) {
  // 100 and 20 steps do not divide by 6 envs: whole fragments make more
  for (const char* split : {"{}", "{num_workers: 3, num_envs_per_worker: 2}",
                            "{batch_mode: complete_episodes, clip_rewards: true,"
                            " env_config: {max_episode_steps: 30}}"}) {
    const auto whole = config_of(GetParam(), split)->build();
    train(*whole, 2);
    const std::vector<Result> expected = train(*whole, 2);

    const auto first = config_of(GetParam(), split)->build();
    train(*first, 2);
    const Scratch scratch;
    const auto second = Algorithm::from_checkpoint(first->save(scratch / "checkpoint"));
    EXPECT_EQ(second->iteration(), 2);
    EXPECT_EQ(train(*second, 2), expected) << split;
    EXPECT_EQ(weights_of(*second), weights_of(*whole)) << split;
  }
}

TEST_P(EveryAlgorithm, AResolvedConfigResolvesToItself) {
  for (const char* more : {"{}", "{train_batch_size: 101}", "{train_batch_size: 521}",
                           "{num_workers: 26, num_envs_per_worker: 20, train_batch_size: 512}"}) {
    const auto once = config_of(GetParam(), more)->resolved();
    EXPECT_EQ(to_json(once->resolved()->to_value()), to_json(once->to_value()));
    // also through text, where every option looks as if it had been given
    const auto read = make_config(GetParam().algorithm);
    read->update(parse_options(once->to_yaml()), "");
    EXPECT_EQ(to_json(read->resolved()->to_value()), to_json(once->to_value())) << more;
  }
}

TEST_P(EveryAlgorithm, WhatWasWorkedOutIsOpenAgainInASavedConfig) {
  const auto saved = config_of(GetParam())->resolved();
  const auto restored = make_config(GetParam().algorithm);
  restored->restore(saved->to_value(), saved->to_value(Shown::given));
  EXPECT_EQ(to_json(restored->resolved()->to_value()), to_json(saved->to_value()));
  restored->update(parse_yaml("{train_batch_size: 600}", "test"), "");
  EXPECT_EQ(to_json(restored->resolved()->to_value()),
            to_json(config_of(GetParam(), "{train_batch_size: 600}")->resolved()->to_value()));
}

TEST_P(EveryAlgorithm, ReportsExactlyTheMetricsItSaysItReports) {
  const auto algorithm = config_of(GetParam(), "{evaluation_interval: 1}")->build();
  const Result result = algorithm->train();
  for (const auto& entry : result.entries()) {
    EXPECT_TRUE(algorithm->metric_names().find(entry.name)) << entry.name;
  }
  for (const MetricInfo& metric : algorithm->metric_names().metrics()) {
    if (metric.name.starts_with("perf/")) continue;  // the trial's
    EXPECT_TRUE(result.find(metric.name)) << metric.name;
    EXPECT_FALSE(metric.sentence.empty()) << metric.name;
  }
}

TEST_P(EveryAlgorithm, WhateverStandsInItsResultsIsExplained) {
  const auto algorithm = config_of(GetParam(), "{evaluation_interval: 1}")->build();
  const Scratch scratch;
  tune::TrialObserver nobody;
  const Result result =
      tune::run_trial(
          *algorithm,
          {.directory = scratch.path(),
           .stop = tune::StopConditions::from(parse_yaml("{training_iteration: 1}", "test"), "")},
          nullptr, nobody)
          .last;
  for (const auto& entry : result.entries()) {
    bool explained = false;
    for (const Explanation& each : explain_metric(entry.name)) {  // throws where there is none
      const bool reported =
          each.algorithms.empty() || std::ranges::count(each.algorithms, GetParam().algorithm) > 0;
      explained = explained || (reported && !each.metric.sentence.empty());
    }
    EXPECT_TRUE(explained) << entry.name;
  }
  for (const MetricInfo& fact : tune::trial_facts()) EXPECT_TRUE(result.find(fact.name));
}

TEST_P(EveryAlgorithm, AWeightlessCallDoesNotDisturbTraining) {
  const auto plain = config_of(GetParam())->build();
  const auto disturbed = config_of(GetParam())->build();
  for (int i = 0; i < 2; ++i) {
    train(*plain, 1);
    train(*disturbed, 1);
    disturbed->evaluate();
    (void)disturbed->save_state();
    (void)disturbed->get_policy().summary();
  }
  EXPECT_EQ(weights_of(*plain), weights_of(*disturbed));
}

TEST_P(EveryAlgorithm, EvaluationDoesNotTouchTraining) {
  const auto plain = config_of(GetParam())->build();
  const std::vector<Result> expected = train(*plain, 3);
  for (const char* evaluation :
       {"evaluation_duration: 3",
        "evaluation_duration: 20, evaluation_duration_unit: timesteps, evaluation_num_workers: 2",
        "evaluation_duration: auto, evaluation_num_workers: 2, evaluation_parallel_to_training: "
        "true, evaluation_config: {explore: true}"}) {
    const auto evaluated =
        config_of(GetParam(), fmt::format("{{evaluation_interval: 2, {}}}", evaluation))->build();
    std::vector<Result> results;
    for (const Result& result : train(*evaluated, 3)) {
      Result& training = results.emplace_back();
      for (const auto& [name, value] : result.entries()) {
        if (!name.starts_with("evaluation/")) training.set(name, value);
      }
    }
    EXPECT_EQ(results, expected) << evaluation;
    EXPECT_EQ(weights_of(*evaluated), weights_of(*plain)) << evaluation;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, EveryAlgorithm, ::testing::ValuesIn(algorithm_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace knurl
