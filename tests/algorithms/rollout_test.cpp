#include <algorithm>
#include <map>
#include <numeric>

#include <gtest/gtest.h>

#include "counter_env.h"
#include "knurl/algorithms/ppo/ppo_batch.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/q_learning/q_learning_config.h"
#include "knurl/algorithms/rollout/evaluation.h"
#include "knurl/algorithms/rollout/rollout_worker.h"
#include "knurl/algorithms/rollout/worker_set.h"
#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

PPOConfig counter_config(const std::string& env_config, int workers = 0, int envs = 1) {
  register_env_once<CounterEnv>("Counter-v0");
  PPOConfig config;
  config.environment("Counter-v0", {.env_config = parse_yaml(env_config, "test")})
      .rollouts({.num_rollout_workers = workers, .num_envs_per_worker = envs})
      .training({.train_batch_size = 1000, .model = {.fcnet_hiddens = {8}}})
      .debugging({.seed = 1});
  return config;
}

RolloutWorker worker_of(const PPOConfig& config, int envs) {
  return RolloutWorker({.algorithm = "PPO",
                        .config = config.resolved()->to_yaml(),
                        .num_envs = envs,
                        .total_envs = envs});
}

/// The observations of a segment, its bootstrap last.
std::vector<float> observations_of(const PolicySteps& steps, const Segment& segment) {
  std::vector<float> out;
  const auto obs = steps.columns.column<float>("obs");
  for (std::int64_t t = 0; t < segment.length; ++t) out.push_back(obs.row(segment.row(t))[0]);
  out.push_back(steps.bootstrap.column<float>("obs").row(segment.bootstrap_row)[0]);
  return out;
}

TEST(Rollout, TheFinalObservationIsKeptAndTheResetHidden) {
  RolloutWorker worker = worker_of(counter_config("{length: 4}"), 1);
  const Fragment fragment = worker.sample({.steps_per_env = 10});
  const PolicySteps& steps = fragment.policies[0];
  ASSERT_EQ(steps.segments.size(), 3U);
  EXPECT_EQ(observations_of(steps, steps.segments[0]), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(observations_of(steps, steps.segments[1]), (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(observations_of(steps, steps.segments[2]), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(steps.segments[0].ending, Ending::terminated);
  EXPECT_EQ(steps.segments[2].ending, Ending::cut);
  EXPECT_EQ(steps.columns.column<float>("rewards")[3], 4.0F);
  EXPECT_EQ(steps.columns.column<double>("info/count")[3], 4.0);
}

TEST(Rollout, TruncationIsNotTermination) {
  RolloutWorker worker = worker_of(counter_config("{length: 4, truncate: true}"), 1);
  const Fragment fragment = worker.sample({.steps_per_env = 4});
  ASSERT_EQ(fragment.policies[0].segments.size(), 1U);
  EXPECT_EQ(fragment.policies[0].segments[0].ending, Ending::truncated);
}

TEST(Rollout, EpisodesGoOnFromFragmentToFragment) {
  RolloutWorker worker = worker_of(counter_config("{length: 25}"), 2);
  std::vector<EpisodeSummary> episodes;
  std::int64_t steps = 0;
  for (int i = 0; i < 5; ++i) {
    const Fragment fragment = worker.sample({.steps_per_env = 10});
    steps += fragment.env_steps;
    for (const Segment& segment : fragment.policies[0].segments) {
      EXPECT_LE(segment.length, 10);
    }
    episodes.insert(episodes.end(), fragment.episodes.begin(), fragment.episodes.end());
  }
  EXPECT_EQ(steps, 100);
  ASSERT_EQ(episodes.size(), 4U);  // two envs, two episodes each
  for (const EpisodeSummary& episode : episodes) {
    EXPECT_EQ(episode.length, 25);
    EXPECT_EQ(episode.episode_return, 25.0 * 26.0 / 2.0);
    EXPECT_EQ(episode.info, std::vector<double>{25.0});
  }
}

TEST(Rollout, AFragmentHoldsManyShortEpisodes) {
  RolloutWorker worker = worker_of(counter_config("{length: 1}"), 2);
  const Fragment fragment = worker.sample({.steps_per_env = 30});
  EXPECT_EQ(fragment.policies[0].segments.size(), 60U);
  EXPECT_EQ(fragment.episodes.size(), 60U);
  for (const Segment& segment : fragment.policies[0].segments) {
    EXPECT_EQ(observations_of(fragment.policies[0], segment), (std::vector<float>{0, 1}));
  }
}

TEST(Rollout, NaNStopsTheRunAndNamesItsPlace) {
  const auto refusal = [](const std::string& env_config) -> std::string {
    RolloutWorker worker = worker_of(counter_config(env_config), 2);
    try {
      worker.sample({.steps_per_env = 10});
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::env);
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal("{length: 8, nan_reward_at: 3}"),
            "Counter-v0 (worker 0, env 0): episode 0, step 3: reward is nan: must be finite");
  EXPECT_EQ(
      refusal("{length: 8, nan_observation_at: 5}"),
      "Counter-v0 (worker 0, env 0): episode 0, step 5: observation[0] is nan: must be finite");
  EXPECT_EQ(
      refusal("{length: 8, nan_observation_at: 8}"),
      "Counter-v0 (worker 0, env 0): episode 0, step 8: observation[0] is nan: must be finite");
  EXPECT_EQ(refusal("{length: 8, throw_at: 2}"),
            "Counter-v0 (worker 0, env 0): episode 0, step 2: the counter broke");
}

TEST(Rollout, AfterAnErrorEpisodesBeginAnew) {
  RolloutWorker worker = worker_of(counter_config("{length: 50, throw_at: 15}"), 1);
  worker.sample({.steps_per_env = 10});
  EXPECT_THROW(worker.sample({.steps_per_env = 10}), Error);
  const Fragment next = worker.sample({.steps_per_env = 3});
  ASSERT_EQ(next.policies[0].segments.size(), 1U);
  EXPECT_EQ(next.policies[0].segments[0].episode, 1);
  EXPECT_EQ(observations_of(next.policies[0], next.policies[0].segments[0]),
            (std::vector<float>{0, 1, 2, 3}));
}

TEST(Rollout, AFragmentBeyondTheMemorySaysWhichOptionsMakeIt) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "its allocator ends the process";
#endif
  RolloutWorker worker = worker_of(counter_config("{}"), 2);
  try {
    worker.sample({.steps_per_env = std::int64_t{1} << 46});
    FAIL() << "there is so much";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "worker 0: there is no memory for 70368744177664 steps in each of 2 environments: "
                 "rollouts.rollout_fragment_length and rollouts.num_envs_per_worker say how many");
  }
}

/// Everything that was seen and done, by env and episode: independent of who did it.
std::map<std::pair<int, std::int64_t>, std::vector<float>> by_episode(
    const std::vector<Fragment>& fragments) {
  std::map<std::pair<int, std::int64_t>, std::vector<float>> out;
  for (const Fragment& fragment : fragments) {
    const PolicySteps& steps = fragment.policies[0];
    for (const Segment& segment : steps.segments) {
      std::vector<float>& numbers = out[{segment.env, segment.episode}];
      for (std::int64_t t = 0; t < segment.length; ++t) {
        const std::int64_t row = segment.row(t);
        for (const float x : steps.columns.column<float>("obs").row(row)) numbers.push_back(x);
        numbers.push_back(static_cast<float>(steps.columns.column<std::int64_t>("actions")[row]));
        numbers.push_back(steps.columns.column<float>("action_logp")[row]);
        numbers.push_back(steps.columns.column<float>("vf_preds")[row]);
        numbers.push_back(steps.columns.column<float>("rewards")[row]);
      }
      numbers.push_back(steps.bootstrap.column<float>("vf_preds")[segment.bootstrap_row]);
    }
  }
  return out;
}

std::vector<Fragment> cartpole_fragments(int workers, int envs_per_worker,
                                         BatchMode mode = BatchMode::truncate_episodes) {
  PPOConfig config;
  config.environment("CartPole-v1")
      .rollouts({.num_rollout_workers = workers, .num_envs_per_worker = envs_per_worker})
      .training({.train_batch_size = 1000, .model = {.fcnet_hiddens = {16}}})
      .debugging({.seed = 7});
  const auto resolved = config.resolved();
  WorkerSet set(*resolved);
  const EnvSpec env = make_env("CartPole-v1")->spec();
  set.set_weights(
      fresh_weights(config.net_for(SpaceLayout(env.observation), SpaceLayout(env.action)), Rng(3)));
  std::vector<Fragment> all;
  for (int round = 0; round < 3; ++round) {
    for (Fragment& fragment : set.sample({.steps_per_env = 40, .mode = mode})) {
      all.push_back(std::move(fragment));
    }
  }
  return all;
}

TEST(Rollout, TheSameEnvsGiveTheSameStepsHoweverManyWorkersShareThem) {
  const auto one = by_episode(cartpole_fragments(0, 4));
  EXPECT_GT(one.size(), 4U);
  EXPECT_EQ(by_episode(cartpole_fragments(1, 4)), one);
  EXPECT_EQ(by_episode(cartpole_fragments(2, 2)), one);
  EXPECT_EQ(by_episode(cartpole_fragments(4, 1)), one);
}

TEST(Rollout, WholeEpisodesAreTheSameHoweverManyWorkersShareThem) {
  const BatchMode whole = BatchMode::complete_episodes;
  const auto one = by_episode(cartpole_fragments(0, 4, whole));
  EXPECT_GT(one.size(), 12U);
  EXPECT_EQ(by_episode(cartpole_fragments(1, 4, whole)), one);
  EXPECT_EQ(by_episode(cartpole_fragments(2, 2, whole)), one);
  EXPECT_EQ(by_episode(cartpole_fragments(4, 1, whole)), one);
}

TEST(Rollout, EachEnvStopsWithTheFirstEpisodeThatEndsAfterSoManySteps) {
  RolloutWorker worker = worker_of(counter_config("{random_length: true}"), 3);
  std::int64_t next_episode = 0;
  for (int round = 0; round < 20; ++round) {
    const Fragment fragment =
        worker.sample({.steps_per_env = 5, .mode = BatchMode::complete_episodes});
    const PolicySteps& steps = fragment.policies[0];
    EXPECT_EQ(steps.columns.rows(), fragment.env_steps);
    std::map<int, std::int64_t> taken;
    std::vector<bool> used(static_cast<std::size_t>(fragment.env_steps));
    for (const Segment& segment : steps.segments) {  // of each env in order
      EXPECT_LT(taken[segment.env], 5);              // or it would have stopped
      taken[segment.env] += segment.length;
      EXPECT_EQ(segment.ending, Ending::terminated);
      EXPECT_TRUE(segment.length == 1 || segment.length == 100);
      std::vector<float> counted(static_cast<std::size_t>(segment.length) + 1);
      std::iota(counted.begin(), counted.end(), 0.0F);
      EXPECT_EQ(observations_of(steps, segment), counted);
      for (std::int64_t t = 0; t < segment.length; ++t) {
        EXPECT_EQ(steps.columns.column<float>("rewards")[segment.row(t)],
                  static_cast<float>(t + 1));
        EXPECT_FALSE(used[static_cast<std::size_t>(segment.row(t))]);
        used[static_cast<std::size_t>(segment.row(t))] = true;
      }
    }
    for (int env = 0; env < 3; ++env) EXPECT_GE(taken[env], 5) << env;
    EXPECT_EQ(fragment.episodes.size(), steps.segments.size());
    next_episode += std::ssize(fragment.episodes);
  }
  EXPECT_GT(next_episode, 60);
}

TEST(Rollout, AnEpisodeThatNeverEndsIsAnErrorWhereItIsToBeWhole) {
  RolloutWorker worker = worker_of(counter_config("{length: 2000000000}"), 1);
  try {
    worker.sample({.steps_per_env = 1, .mode = BatchMode::complete_episodes});
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "Counter-v0 (worker 0, env 0): episode 0, step 1000001: batch_mode "
                 "complete_episodes: the episode goes on after more than 1000000 steps; give "
                 "env_config.max_episode_steps");
  }
}

TEST(Rollout, ClippedRewardsAreLearntFromAndReturnsAreTheEnvs) {
  for (const auto& [clip, expected] :
       {std::pair<RewardClip, std::vector<float>>{{}, {1, 2, 3, 4}},
        {{.kind = RewardClip::Kind::sign}, {1, 1, 1, 1}},
        {{.kind = RewardClip::Kind::bound, .bound = 2.5}, {1, 2, 2.5, 2.5}}}) {
    PPOConfig config = counter_config("{length: 4}");
    config.environment("Counter-v0", {.clip_rewards = clip});
    RolloutWorker worker = worker_of(config, 1);
    const Fragment fragment = worker.sample({.steps_per_env = 4});
    const auto rewards = fragment.policies[0].columns.column<float>("rewards").span();
    EXPECT_EQ(std::vector<float>(rewards.begin(), rewards.end()), expected);
    EXPECT_EQ(fragment.episodes.at(0).episode_return, 10.0);
  }
}

TEST(Rollout, ASignIsMinusOneZeroOrOneAndABoundCutsBothSides) {
  std::vector<float> rewards{-3.0F, 0.0F, 0.5F};
  RewardClip{.kind = RewardClip::Kind::sign}.apply(rewards);
  EXPECT_EQ(rewards, (std::vector<float>{-1.0F, 0.0F, 1.0F}));
  rewards = {-3.0F, -0.5F, 7.0F};
  RewardClip{.kind = RewardClip::Kind::bound, .bound = 2.0}.apply(rewards);
  EXPECT_EQ(rewards, (std::vector<float>{-2.0F, -0.5F, 2.0F}));
}

TEST(Rollout, TheFirstEnvIsPrintedAfterEachOfItsSteps) {
  QLearningConfig config;
  config.environment("Maze-v0", {.render_env = true}).debugging({.seed = 1});
  const auto spec = [&](int first_env) {
    return RolloutWorkerSpec{.algorithm = "QLearning",
                             .config = config.resolved()->to_yaml(),
                             .num_envs = 2,
                             .first_env = first_env,
                             .total_envs = 4};
  };
  RolloutWorker first(spec(0));
  RolloutWorker second(spec(2));
  std::string expected;
  ::testing::internal::CaptureStdout();
  for (int i = 0; i < 5; ++i) {
    first.sample({.steps_per_env = 1});
    second.sample({.steps_per_env = 1});
    expected += first.picture(0) + "\n";
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), expected);
  EXPECT_NE(expected.find("|S"), std::string::npos);
}

TEST(Rollout, TheLearnersOrderOfRowsDoesNotDependOnTheWorkers) {
  const SpaceLayout layout(make_env("CartPole-v1")->spec().observation);
  const NetSpec net = make_net(4, {}, {{.name = "policy", .output = "logits", .size = 2}});
  const auto in_order = [&](int workers, int envs) {
    const PpoBatch batch =
        make_ppo_batch(cartpole_fragments(workers, envs), {.observations = layout, .net = net},
                       {.gamma = 0.99, .lambda = 0.95});
    std::vector<float> out;
    for (const std::int32_t row : batch.order) {
      out.push_back(batch.rows.column<float>("net_inputs").row(row)[2]);
      out.push_back(batch.rows.column<float>("advantages")[row]);
    }
    return out;
  };
  const auto one = in_order(0, 4);
  EXPECT_EQ(one.size(), 2U * 3 * 40 * 4);
  EXPECT_EQ(in_order(2, 2), one);
  EXPECT_EQ(in_order(4, 1), one);
}

TEST(Rollout, AWorkerGoesOnFromASavedStateBitForBit) {
  RolloutWorker worker = worker_of(counter_config("{length: 7}"), 3);
  worker.sample({.steps_per_env = 5});
  const auto state = worker.save_state();
  const auto expected = by_episode([&] {
    std::vector<Fragment> out;
    out.push_back(worker.sample({.steps_per_env = 20}));
    return out;
  }());
  RolloutWorker other = worker_of(counter_config("{length: 7}"), 3);
  other.load_state(state);
  std::vector<Fragment> again;
  again.push_back(other.sample({.steps_per_env = 20}));
  EXPECT_EQ(by_episode(again), expected);
}

TEST(Evaluation, RunsExactlyTheEpisodesAskedFor) {
  for (const int envs : {1, 3, 4, 16}) {
    RolloutWorker worker = worker_of(counter_config("{length: 6}"), envs);
    std::vector<std::int64_t> reported;
    const auto episodes = run_episodes(worker, {.episodes = 7}, [&](const EpisodeSummary& episode) {
      reported.push_back(episode.episode);
    });
    EXPECT_EQ(episodes.size(), 7U);
    EXPECT_EQ(reported, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST(Evaluation, ShortEpisodesDoNotCrowdOutLongOnes) {
  RolloutWorker worker = worker_of(counter_config("{random_length: true}"), 16);
  double length = 0.0;
  for (const EpisodeSummary& episode : run_episodes(worker, {.episodes = 400})) {
    length += static_cast<double>(episode.length);
  }
  EXPECT_NEAR(length / 400.0, 50.5, 12.5);  // 5 standard errors
}

TEST(Evaluation, EpisodesDoNotDependOnHowManyEnvsShareThem) {
  const auto lengths = [](int envs) {
    RolloutWorker worker = worker_of(counter_config("{random_length: true}"), envs);
    std::vector<std::int64_t> out;
    for (const EpisodeSummary& episode : run_episodes(worker, {.episodes = 20}))
      out.push_back(episode.length);
    return out;
  };
  const auto one = lengths(1);
  EXPECT_EQ(lengths(5), one);
  EXPECT_EQ(lengths(16), one);
}

}  // namespace
}  // namespace knurl
