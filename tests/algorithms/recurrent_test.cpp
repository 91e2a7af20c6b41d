#include <map>

#include <gtest/gtest.h>

#include "counter_env.h"
#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/ppo/ppo_batch.h"
#include "knurl/algorithms/ppo/ppo_config.h"
#include "knurl/algorithms/rollout/rollout_worker.h"
#include "knurl/core/base/error.h"
#include "knurl/core/config/yaml.h"
#include "knurl/models/columns.h"
#include "knurl/models/fast/fast_net.h"

namespace knurl {
namespace {

PPOConfig recurrent_config(const std::string& env_config, const std::string& more = "{}") {
  register_env_once<CounterEnv>("Counter-v0");
  PPOConfig config;
  config.environment("Counter-v0", {.env_config = parse_yaml(env_config, "test")})
      .rollouts({.num_rollout_workers = 0})
      .training({.train_batch_size = 100,
                 .model = {.fcnet_hiddens = {8},
                           .use_lstm = true,
                           .max_seq_len = 3,
                           .lstm_cell_size = 5,
                           .lstm_use_prev_action = true,
                           .lstm_use_prev_reward = true}},
                {.sgd_minibatch_size = 50})
      .debugging({.seed = 1});
  config.update(parse_yaml(more, "test"), "");
  return config;
}

const char* const kMemory[] = {column::kStateH, column::kStateC, column::kPreviousActions,
                               column::kPreviousRewards};

std::vector<float> row_of(const RecordBatch& batch, const char* name, std::int64_t row) {
  const auto numbers = batch.column<float>(name).row(row);
  return {numbers.begin(), numbers.end()};
}

/// What the net makes of an observation and a memory, a row each.
struct Step {
  float value = 0.0F;
  std::vector<float> h = {};
  std::vector<float> c = {};
};
Step step_of(const NetSpec& spec, const Weights& weights, const RecordBatch& steps,
             std::int64_t row) {
  fast::FastNet net(spec);
  net.set_weights(weights);
  std::vector<float> input;
  for (const char* name : {"obs", column::kPreviousActions, column::kPreviousRewards}) {
    for (const float x : row_of(steps, name, row)) input.push_back(x);
  }
  RecordBatch memory(state_of(spec), 1);
  for (const char* name : {column::kStateH, column::kStateC}) {
    std::ranges::copy(row_of(steps, name, row), memory.column<float>(name).data());
  }
  net.forward(input.data(), 1, spec.inputs, &memory);
  const auto h = net.layer_output(*lstm_layer(spec)).row(0);
  const auto c = net.lstm_cells().row(0);
  return {net.output(column::kValues).row(0)[0], {h.begin(), h.end()}, {c.begin(), c.end()}};
}

// episodes of 5 steps in fragments of 7: ends and cuts fall everywhere
TEST(Recurrent, FragmentsRememberEpisodesFromTheirStartAcrossCutsToTheirEnd) {
  for (const char* env_config : {"{length: 5}", "{length: 5, truncate: true}"}) {
    const PPOConfig config = recurrent_config(env_config);
    const NetSpec spec =
        config.net_for(SpaceLayout(Box{.shape = {1}}), SpaceLayout(Discrete{.n = 2}));
    const Weights weights = fresh_weights(spec, Rng(3));
    RolloutWorker worker({.algorithm = "PPO",
                          .config = config.resolved()->to_yaml(),
                          .num_envs = 2,
                          .total_envs = 2});
    worker.set_weights(weights);
    std::map<std::int64_t, std::map<std::string, std::vector<float>>> cut;  // by episode
    for (int round = 0; round < 4; ++round) {
      const Fragment fragment = worker.sample({.steps_per_env = 7});
      const PolicySteps& steps = fragment.policies[0];
      for (const Segment& segment : steps.segments) {
        for (const char* name : kMemory) {
          auto expected = cut.contains(segment.episode) ? cut[segment.episode][name]
                                                        : row_of(steps.columns, name, 0);
          if (!cut.contains(segment.episode)) std::ranges::fill(expected, 0.0F);
          EXPECT_EQ(row_of(steps.columns, name, segment.row(0)), expected) << name;
        }
        for (std::int64_t t = 0; t < segment.length; ++t) {
          const std::int64_t row = segment.row(t);
          const Step step = step_of(spec, weights, steps.columns, row);
          EXPECT_EQ(steps.columns.column<float>(column::kValues)[row], step.value);
          const bool last = t + 1 == segment.length;
          const RecordBatch& after = last ? steps.bootstrap : steps.columns;
          const std::int64_t next = last ? segment.bootstrap_row : segment.row(t + 1);
          EXPECT_EQ(row_of(after, column::kStateH, next), step.h);
          EXPECT_EQ(row_of(after, column::kStateC, next), step.c);
          EXPECT_EQ(after.column<float>(column::kPreviousRewards)[next],
                    steps.columns.column<float>(column::kRewards)[row]);
          std::vector<float> action(2);
          action[static_cast<std::size_t>(
              steps.columns.column<std::int64_t>(column::kActions)[row])] = 1.0F;
          EXPECT_EQ(row_of(after, column::kPreviousActions, next), action);
        }
        EXPECT_EQ(steps.bootstrap.column<float>(column::kValues)[segment.bootstrap_row],
                  step_of(spec, weights, steps.bootstrap, segment.bootstrap_row).value);
        if (segment.ending != Ending::cut) continue;
        for (const char* name : kMemory) {
          cut[segment.episode][name] = row_of(steps.bootstrap, name, segment.bootstrap_row);
        }
      }
    }
    EXPECT_GE(cut.size(), 6U);
  }
}

// an env that waits for others' episodes begins its next one without a memory of waiting
TEST(Recurrent, WholeEpisodesBeginWithoutAMemory) {
  const PPOConfig config = recurrent_config("{random_length: true}");
  RolloutWorker worker(
      {.algorithm = "PPO", .config = config.resolved()->to_yaml(), .num_envs = 4, .total_envs = 4});
  for (int round = 0; round < 3; ++round) {
    const Fragment fragment =
        worker.sample({.steps_per_env = 10, .mode = BatchMode::complete_episodes});
    for (const Segment& segment : fragment.policies[0].segments) {
      for (const char* name : kMemory) {
        for (const float x : row_of(fragment.policies[0].columns, name, segment.row(0))) {
          EXPECT_EQ(x, 0.0F) << name;
        }
      }
    }
  }
}

TEST(Recurrent, BatchesAreCutIntoSequencesAndPackedLongestFirst) {
  const PPOConfig config = recurrent_config("{length: 5}");
  const SpaceLayout observations(Box{.shape = {1}});
  const NetSpec net = config.net_for(observations, SpaceLayout(Discrete{.n = 2}));
  RolloutWorker worker(
      {.algorithm = "PPO", .config = config.resolved()->to_yaml(), .num_envs = 1, .total_envs = 1});
  std::vector<Fragment> fragments;
  fragments.push_back(worker.sample({.steps_per_env = 9}));  // 5 and 4 steps
  const PpoBatch batch = make_ppo_batch(
      fragments, {.observations = observations, .net = net, .max_seq_len = 3}, {.gamma = 0.9});
  std::vector<std::pair<int, int>> sequences;
  for (const auto& [first, length] : batch.sequences) sequences.emplace_back(first, length);
  EXPECT_EQ(sequences, (std::vector<std::pair<int, int>>{{0, 3}, {3, 2}, {5, 3}, {8, 1}}));
  ASSERT_EQ(batch.states.rows(), 4);
  for (std::int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(row_of(batch.states, column::kStateC, i),
              row_of(fragments[0].policies[0].columns, column::kStateC,
                     batch.sequences[static_cast<std::size_t>(i)].first));
  }

  const std::vector<std::int32_t> chosen{3, 1, 2};
  const PackedSequences packed = pack(batch, chosen);
  EXPECT_EQ(packed.rows, (std::vector<std::int32_t>{5, 3, 8, 6, 4, 7}));
  EXPECT_EQ(packed.sequences.batch_sizes, (std::vector<std::int64_t>{3, 2, 1}));
  EXPECT_EQ(row_of(packed.sequences.states, column::kStateH, 1),
            row_of(batch.states, column::kStateH, 1));
  EXPECT_EQ(row_of(packed.sequences.states, column::kStateH, 0),
            row_of(batch.states, column::kStateH, 2));
}

// the learner sees a batch as the workers saw it: with a step size of 0 nothing moves, and the
// divergence from the policy that acted is 0 although states, filter, previous actions and rewards
// went through fragments, cuts, sequences and packing
TEST(Recurrent, TheLearnersPolicyIsTheOneThatActed) {
  for (const char* more : {"{}", "{num_workers: 2}", "{batch_mode: complete_episodes}"}) {
    PPOConfig config = recurrent_config(
        "{length: 11, truncate: true}",
        "{num_envs_per_worker: 3, sgd_minibatch_size: 30, num_sgd_iter: 4, lr_schedule: [[0, 0.02],"
        " [399, 0.02], [400, 0]], observation_filter: MeanStdFilter, normalize_rewards: true}");
    config.update(parse_yaml(more, "test"), "");
    const auto algorithm = config.build();
    std::vector<double> kl;
    Result result;
    for (int i = 0; i < 6; ++i) {
      result = algorithm->train();
      kl.push_back(result.number("info/learner/default_policy/learner_stats/kl").value());
    }
    EXPECT_GT(kl[0], 1e-4) << "it did learn";
    EXPECT_LT(kl[5], 1e-7) << more;
    EXPECT_LT(result.number("info/learner/default_policy/learner_stats/entropy").value(), 0.685)
        << "what it learnt shows in its choices";
  }
}

TEST(Recurrent, AProgramStepsEpisodesOfItsOwnWithTheirStates) {
  const auto algorithm = recurrent_config("{length: 5}").build();
  algorithm->train();
  EXPECT_THROW(algorithm->compute_single_action(std::vector<float>{1.0F}), Error);

  auto alone = algorithm->get_initial_state();
  std::map<std::string, Algorithm::ActingState> states{{"a", algorithm->get_initial_state()},
                                                       {"b", algorithm->get_initial_state()}};
  for (int step = 0; step < 4; ++step) {
    const std::vector<float> observation{static_cast<float>(step)};
    const std::vector<float> other{static_cast<float>(9 - step)};
    const auto single = algorithm->compute_single_action(observation, alone);
    const auto both = algorithm->compute_actions({{"a", observation}, {"b", other}}, states);
    EXPECT_EQ(both.at("a"), single) << "the other's state is its own";
    alone.observe_reward(2.0F);
    states.at("a").observe_reward(2.0F);
  }
  EXPECT_THROW(algorithm->compute_actions({{"c", std::vector<float>{1.0F}}}, states), Error);
}

TEST(Recurrent, AProgramsRewardsAreClippedAsTrainingsAre) {
  const auto algorithm =
      recurrent_config("{}", "{env: Pendulum-v1, env_config: null, clip_rewards: true}").build();
  const auto after = [&](float reward) {
    auto state = algorithm->get_initial_state();
    const std::vector<float> observation{1.0F, 0.0F, 0.5F};
    algorithm->compute_single_action(observation, state);
    state.observe_reward(reward);
    return algorithm->compute_single_action(observation, state);
  };
  EXPECT_EQ(after(7.0F), after(1.0F));
  EXPECT_NE(after(7.0F), after(-1.0F)) << "it is read";
}

TEST(Recurrent, OptionsThatDoNotFitAreRefused) {
  const auto refusal = [](AlgorithmConfig& config) -> std::string {
    try {
      (void)config.resolved();
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  };
  PPOConfig config = recurrent_config("{}", "{sgd_minibatch_size: 2}");
  EXPECT_EQ(
      refusal(config),
      "test:1: training.sgd_minibatch_size = 2 is smaller than training.model.max_seq_len = 3: a "
      "minibatch holds whole sequences");
}

}  // namespace
}  // namespace knurl
