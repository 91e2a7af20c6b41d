#include <numeric>

#include <gtest/gtest.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/registry.h"
#include "knurl/algorithms/typed_json.h"
#include "luck_env.h"
#include "scratch.h"

namespace knurl {
namespace {

std::string refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<double> lengths_of(const Result& result) {
  return std::get<std::vector<double>>(*result.find("evaluation/hist_stats/episode_lengths"));
}

Result evaluated(const std::string& options) {
  return luck_config(options).build()->evaluate();
}

TEST(Evaluation, FindsTheSameHoweverManyWorkersItHas) {
  for (const char* what : {"evaluation_duration: 7", "evaluation_duration: 33",
                           "evaluation_duration: 50, evaluation_duration_unit: timesteps"}) {
    const Result one = evaluated(fmt::format("{{{}}}", what));
    for (const int workers : {1, 2, 3, 20}) {
      EXPECT_EQ(evaluated(fmt::format("{{{}, evaluation_num_env_runners: {}}}", what, workers)),
                one)
          << what << ", " << workers;
    }
    const char* explore = "evaluation_config: {explore: true}";
    const Result exploring = evaluated(fmt::format("{{{}, {}}}", what, explore));
    EXPECT_NE(exploring, one);
    EXPECT_EQ(evaluated(fmt::format("{{{}, {}, evaluation_num_workers: 3}}", what, explore)),
              exploring);
    EXPECT_EQ(evaluated(fmt::format("{{{}, num_envs_per_worker: 5}}", what)), one) << what;
  }
}

TEST(Evaluation, ExploresAlikeHoweverManyWorkersTrainAndEvaluate) {
  register_env_once<LuckEnv>("Luck-v0");
  const auto run = [](const std::string& workers) {
    auto config = make_config("DQN");
    config->update(parse_yaml("{env: Luck-v0, seed: 3, model: {fcnet_hiddens: [8]}, hiddens: [8],"
                              " exploration_config: {type: PerWorkerEpsilonGreedy},"
                              " evaluation_config: {explore: true}}",
                              "test"),
                   "");
    config->update(parse_yaml(workers, "test"), "");
    return config->build()->evaluate();
  };
  const Result one = run("{}");
  EXPECT_EQ(run("{evaluation_num_workers: 3}"), one);
  EXPECT_EQ(run("{num_workers: 2, evaluation_num_workers: 3}"), one);
}

TEST(Evaluation, RunsAsManyEpisodesAsAreAskedFor) {
  const auto algorithm = luck_config("{evaluation_duration: 33}").build();
  const Result first = algorithm->evaluate();
  const std::vector<double> lengths = lengths_of(first);
  EXPECT_EQ(lengths.size(), 33U);
  EXPECT_EQ(first.number("evaluation/episodes_this_iter"), 33.0);
  EXPECT_EQ(first.number("evaluation/timesteps_this_iter"),
            std::accumulate(lengths.begin(), lengths.end(), 0.0));
  EXPECT_NE(lengths_of(algorithm->evaluate()), lengths);  // the next one has other episodes
}

TEST(Evaluation, RunsTheFewestWholeEpisodesThatMakeSoManySteps) {
  const std::vector<double> lengths =
      lengths_of(evaluated("{evaluation_duration: 50, evaluation_duration_unit: timesteps}"));
  const double steps = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  EXPECT_GE(steps, 50.0);
  EXPECT_LT(steps - lengths.back(), 50.0);
  // they are the first ones
  const std::vector<double> more = lengths_of(evaluated("{evaluation_duration: 33}"));
  EXPECT_TRUE(std::equal(lengths.begin(), lengths.end(), more.begin()));
}

TEST(Evaluation, BesideTrainingItSeesTheWeightsFromBefore) {
  // greedy on the empty table is action 0, which earns nothing; an iteration later it is action 1
  const auto after = luck_config("{evaluation_interval: 1}").build();
  EXPECT_GT(after->train().number("evaluation/episode_reward_max"), 0.0);
  const auto beside = luck_config(
                          "{evaluation_interval: 1, evaluation_num_workers: 1,"
                          " evaluation_parallel_to_training: true}")
                          .build();
  EXPECT_EQ(beside->train().number("evaluation/episode_reward_max"), 0.0);
  EXPECT_GT(beside->train().number("evaluation/episode_reward_max"), 0.0);
  // without workers to run beside it, evaluation comes after training
  const auto alone =
      luck_config("{evaluation_interval: 1, evaluation_parallel_to_training: true}").build();
  EXPECT_GT(alone->train().number("evaluation/episode_reward_max"), 0.0);
}

TEST(Evaluation, EvaluationConfigChangesEvaluationAlone) {
  const auto algorithm =
      luck_config("{evaluation_interval: 1, evaluation_config: {env_config: {longest: 1}}}")
          .build();
  const Result result = algorithm->train();
  EXPECT_EQ(lengths_of(result), std::vector<double>(10, 1.0));
  EXPECT_GT(result.number("episode_len_mean"), 1.0);
  // greedy on an empty table is action 0, and exploring tries action 1 too
  EXPECT_EQ(evaluated("{}").number("evaluation/episode_reward_max"), 0.0);
  EXPECT_GT(evaluated("{evaluation_config: {explore: true}}")
                .number("evaluation/"
                        "episode_reward_max"),
            0.0);
  EXPECT_EQ(evaluated("{evaluation_config: {explore: true, exploration_config: {initial_epsilon: "
                      "0, final_epsilon: 0}}}")
                .number("evaluation/episode_reward_max"),
            0.0);
}

TEST(Evaluation, AnotherEnvDoesNotGetTheOptionsOfTrainings) {
  EXPECT_EQ(
      refusal([] { evaluated("{env_config: {longest: 3}, evaluation_config: {env: Maze-v0}}"); }),
      "evaluation_config.env Maze-v0: its spaces Discrete(25) and Discrete(4) are not those "
      "of training, Discrete(2) and Discrete(2)");
}

TEST(Evaluation, EvaluationConfigIsCheckedWhereItIsRead) {
  EXPECT_EQ(refusal([] {
              luck_config("evaluation_interval: 1\nevaluation_config:\n  explore: true\n  gama: 1");
            }),
            "a.yaml:4: config.evaluation_config.gama: unknown option; did you mean gamma?");
  EXPECT_EQ(refusal([] { luck_config("evaluation_config:\n  gamma: 2"); }),
            "a.yaml:2: config.evaluation_config.gamma = 2: must be in [0, 1]");
  EXPECT_EQ(refusal([] { luck_config("evaluation_config: 3"); }),
            "a.yaml:1: config.evaluation_config = 3: must be a map of options");
  EXPECT_EQ(refusal([] {
              (void)luck_config("{evaluation_config: {env: Mase-v0}}").resolved();
            }).substr(0, 26),
            "evaluation_config: env Mas");
  EXPECT_EQ(refusal([] { (void)luck_config("{evaluation_config: null}").build(); }), "accepted");
}

/// What resolving a config of an algorithm on CartPole fails with.
std::string refusal_of(const std::string& options, const std::string& algorithm = "PPO") {
  return refusal([&] {
    const auto config = make_config(algorithm);
    config->update(parse_yaml("{env: CartPole-v1, model: {fcnet_hiddens: [8]}}", "test"), "");
    config->update(parse_yaml(options, "a.yaml"), "config");
    (void)config->resolved();
  });
}

TEST(Evaluation, HasNoFragmentsAndBatches) {
  EXPECT_EQ(refusal_of("evaluation_config: {num_envs_per_worker: 3}"), "accepted");
  EXPECT_EQ(refusal_of("{rollout_fragment_length: 2000, evaluation_config: {num_workers: 9}}"),
            "accepted");
  EXPECT_EQ(refusal_of("{rollout_fragment_length: 1000000000, train_batch_size: 1000000001, "
                       "num_workers: 1, evaluation_config: {num_envs_per_worker: 5}}"),
            "accepted");
  EXPECT_EQ(refusal_of("evaluation_config: {train_batch_size: 1}"), "accepted");
  EXPECT_NE(refusal_of("rollout_fragment_length: 4002"), "accepted") << "training has them";
}

TEST(Evaluation, IsOfTheSamePolicy) {
  EXPECT_EQ(refusal_of("evaluation_config:\n  model:\n    fcnet_activation: relu"),
            "a.yaml:3: evaluation_config: training.model.fcnet_activation = relu: the policy is "
            "that of training, made with tanh");
  for (const char* option :
       {"model: {fcnet_hiddens: [4]}", "model: {use_lstm: true}", "model: {free_log_std: true}",
        "model: {vf_share_layers: true}", "box_distribution: squashed_gaussian", "use_sde: true",
        "action_mask_key: \"\"", "observation_filter: MeanStdFilter"}) {
    EXPECT_NE(refusal_of(fmt::format("evaluation_config: {{{}}}", option))
                  .find("the policy is that of training"),
              std::string::npos)
        << option;
    EXPECT_EQ(refusal_of(fmt::format("{{{}, evaluation_config: {{{}}}}}", option, option)),
              "accepted")
        << option;
  }
  for (const char* option :
       {"model: {max_seq_len: 7}", "model: {fcnet_weights_initializer: orthogonal}", "lr: 0.5",
        "explore: true", "clip_actions: true"}) {
    EXPECT_EQ(refusal_of(fmt::format("evaluation_config: {{{}}}", option)), "accepted") << option;
  }
  for (const char* option : {"dueling: false", "hiddens: [4]", "num_atoms: 3", "noisy: true"}) {
    EXPECT_NE(refusal_of(fmt::format("evaluation_config: {{{}}}", option), "DQN")
                  .find("the policy is that of training"),
              std::string::npos)
        << option;
  }
  EXPECT_NE(refusal_of("{num_atoms: 5, evaluation_config: {v_max: 20}}", "DQN"), "accepted");
  EXPECT_EQ(refusal_of("evaluation_config: {v_max: 20}", "DQN"), "accepted")
      << "one atom has no support";
}

TEST(Evaluation, AutoNeedsATrainingThatItLastsAsLongAs) {
  const std::string rule =
      "a.yaml:1: evaluation.evaluation_duration = auto: lasts as long as the training beside it; "
      "give "
      "evaluation_parallel_to_training: true and evaluation_num_workers";
  EXPECT_EQ(refusal([] { evaluated("{evaluation_duration: auto}"); }), rule);
  EXPECT_EQ(refusal([] {
              evaluated("{evaluation_duration: auto, evaluation_parallel_to_training: true}");
            }),
            rule);
  const auto algorithm = luck_config(
                             "{evaluation_duration: auto, evaluation_parallel_to_training: true,"
                             " evaluation_num_workers: 2, evaluation_interval: 1,"
                             " min_time_s_per_iteration: 0.2}")
                             .build();
  // a round of all six envs at least, and in 0.2 s many more
  EXPECT_GT(algorithm->train().number("evaluation/episodes_this_iter"), 12.0);
  EXPECT_GE(algorithm->evaluate().number("evaluation/episodes_this_iter"), 6.0);
}

TEST(Evaluation, TheLastOneIsReportedAgainWhereThatIsAskedFor) {
  const std::string options = "{evaluation_interval: 2, always_attach_evaluation_results: true}";
  const auto algorithm = luck_config(options).build();
  const char* name = "evaluation/hist_stats/episode_lengths";
  EXPECT_EQ(algorithm->train().find(name), nullptr);
  const std::vector<double> second = lengths_of(algorithm->train());
  const Scratch scratch;
  const auto restored = Algorithm::from_checkpoint(algorithm->save(scratch / "checkpoint"));
  for (Algorithm* each : {algorithm.get(), restored.get()}) {
    EXPECT_EQ(lengths_of(each->train()), second);
    EXPECT_NE(lengths_of(each->train()), second);
  }
  const auto plain = luck_config("{evaluation_interval: 2}").build();
  plain->train();
  plain->train();
  EXPECT_EQ(plain->train().find(name), nullptr);
}

TEST(Evaluation, WhatWasReportedKeepsItsTypesInACheckpoint) {
  Result result;
  result.set("flag", true);
  result.set("count", 3);
  result.set("whole", 3.0);
  result.set("third", 1.0 / 3.0);
  result.set("word", "greedy");
  result.set("list", std::vector<double>{1.0, 0.5});
  result.set("mean", Result::Nothing{"no episode yet"});
  EXPECT_EQ(result_of_typed_json(typed_json(result)), result);
}

TEST(Evaluation, ATrainingThatFailsBesideAnEndlessEvaluationLeavesNothingRunning) {
  const auto algorithm =
      luck_config(
          "{evaluation_duration: auto, evaluation_parallel_to_training: true,"
          " evaluation_num_workers: 2, evaluation_interval: 1, env_config: {throw_at: 5},"
          " evaluation_config: {env_config: {throw_at: 0}}}")
          .build();
  EXPECT_EQ(refusal([&] { algorithm->train(); }).substr(0, 7), "Luck-v0");
  EXPECT_GE(algorithm->evaluate().number("evaluation/episodes_this_iter"), 6.0);
  EXPECT_EQ(refusal([&] { algorithm->train(); }).substr(0, 7), "Luck-v0");
}  // and their destructors do not wait for ever

TEST(Evaluation, AnEnvThatThrowsIsNamed) {
  const std::string broken =
      "evaluation_interval: 1, evaluation_config: {env_config: {shortest: 5, throw_at: 3}}";
  EXPECT_EQ(refusal([&] { luck_config(fmt::format("{{{}}}", broken)).build()->train(); }),
            "Luck-v0 (worker 0, env 0): episode 0, step 3: out of luck");
  const auto beside = luck_config(fmt::format("{{{}, evaluation_num_workers: 2,"
                                              " evaluation_parallel_to_training: true}}",
                                              broken))
                          .build();
  EXPECT_EQ(refusal([&] { beside->train(); }),
            "Luck-v0 (worker 1, env 0): episode 0, step 3: out of luck");
}

}  // namespace
}  // namespace knurl
