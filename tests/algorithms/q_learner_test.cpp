#include "knurl/algorithms/q_learning/q_learner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

// three states, two actions
const SpaceLayout kStates(Space(Discrete{.n = 3}));
const SpaceLayout kActions(Space(Discrete{.n = 2}));

/// Learns half of each error, gamma 0.5; epsilon is 1 - timestep / 100.
QLearner learner_with(const QLearningOptions& own, std::uint64_t seed = 0) {
  QLearningConfig config;
  config.training({.gamma = 0.5, .lr = 0.5}, own)
      .exploration({.exploration_config = {
                        .initial_epsilon = 1.0, .final_epsilon = 0.0, .epsilon_timesteps = 100}});
  return {config, kStates, kActions, Rng(seed)};
}

QLearner fresh_learner(double initial_q = 0.0) {
  return learner_with({.initial_q = initial_q});
}

struct Step {
  std::int64_t state = 0;
  std::int64_t action = 0;
  float reward = 0.0F;
};

/// A fragment of one segment that comes to `last` in the end.
Fragment fragment_of(const std::vector<Step>& steps, std::int64_t last, Ending ending,
                     int env = 0) {
  const auto length = static_cast<std::int64_t>(steps.size());
  PolicySteps policy{.columns = RecordBatch({{"obs", DType::int64, {}},
                                             {"actions", DType::int64, {}},
                                             {"rewards", DType::float32, {}}},
                                            length),
                     .bootstrap = RecordBatch({{"obs", DType::int64, {}}}, 1),
                     .segments = {{.env = env, .length = length, .ending = ending}}};
  for (std::int64_t t = 0; t < length; ++t) {
    const Step& step = steps[static_cast<std::size_t>(t)];
    policy.columns.column<std::int64_t>("obs")[t] = step.state;
    policy.columns.column<std::int64_t>("actions")[t] = step.action;
    policy.columns.column<float>("rewards")[t] = step.reward;
  }
  policy.bootstrap.column<std::int64_t>("obs")[0] = last;
  Fragment out;
  out.policies.push_back(std::move(policy));
  return out;
}

/// Learns from fragments; returns how many steps they had.
std::int64_t learn(QLearner& learner, std::initializer_list<const Fragment*> fragments,
                   std::int64_t timestep = 0) {
  std::vector<Fragment> all;
  for (const Fragment* fragment : fragments) all.push_back(*fragment);
  return learner.update(all, timestep);
}

std::vector<float> table_of(const QLearner& learner, const char* name = kQTable) {
  const Weights weights = learner.weights();
  const auto values = weights.tensors.column<float>(name).span();
  return {values.begin(), values.end()};
}

/// Gives a learner's first table these values.
void start_from(QLearner& learner, const std::vector<float>& values) {
  Weights weights = learner.weights();
  std::ranges::copy(values, weights.tensors.column<float>(kQTable).data());
  learner.set_weights(weights);
}

/// A learner as a checkpoint of another one leaves it.
void restore(QLearner& learner, const QLearner& saved) {
  CheckpointData state;
  saved.save(state);
  learner.set_weights(saved.weights());
  learner.load(state);
}

TEST(QLearner, LearnsStepByStepInTheOrderOfTime) {
  QLearner learner = fresh_learner();
  const Fragment fragment =
      fragment_of({{.state = 0, .action = 1, .reward = 4},    // q(0, 1) = 0.5 * 4
                   {.state = 1, .action = 0, .reward = 2},    // q(1, 0) = 0.5 * (2 + 0.5 * 2)
                   {.state = 0, .action = 0, .reward = -1}},  // q(0, 0) = 0.5 * (-1 + 0.5 * 1.5)
                  1, Ending::truncated);
  EXPECT_EQ(learn(learner, {&fragment}), 3);
  EXPECT_EQ(table_of(learner), (std::vector<float>{-0.125F, 2, 1.5F, 0, 0, 0}));
}

TEST(QLearner, OnlyTerminationStopsBootstrapping) {
  for (const Ending ending : {Ending::terminated, Ending::truncated, Ending::cut}) {
    QLearner learner = fresh_learner(8.0);
    const Fragment fragment = fragment_of({{.state = 0, .action = 0, .reward = 2}}, 2, ending);
    learn(learner, {&fragment});
    // 8 + 0.5 * (2 + 0.5 * 8 - 8), without the 0.5 * 8 where the task has ended
    EXPECT_EQ(table_of(learner)[0], ending == Ending::terminated ? 5.0F : 7.0F);
  }
}

TEST(QLearner, EnvsAreLearntFromInTheirOrderWhateverTheFragments) {
  const Fragment first = fragment_of({{.state = 0, .reward = 4}}, 1, Ending::cut, 0);
  const Fragment second = fragment_of({{.state = 1, .reward = 2}}, 0, Ending::cut, 1);
  QLearner one = fresh_learner();
  QLearner other = fresh_learner();
  learn(one, {&first, &second});
  learn(other, {&second, &first});
  EXPECT_EQ(table_of(one), (std::vector<float>{2, 0, 1.5F, 0, 0, 0}));
  EXPECT_EQ(table_of(other), table_of(one));
}

TEST(QLearner, EachUpdateMakesTheVersionOneHigher) {
  QLearner learner = fresh_learner();
  const Fragment fragment = fragment_of({{.state = 0}, {.state = 1}}, 2, Ending::cut);
  EXPECT_EQ(learner.version(), 0);
  learn(learner, {&fragment});
  learn(learner, {&fragment});
  EXPECT_EQ(learner.version(), 2);
  EXPECT_EQ(learner.weights().version, 2);
}

TEST(QLearner, AnErrorThatIsNotFiniteStopsBeforeItSpoilsTheTable) {
  for (const float spoilt : {std::nanf(""), HUGE_VALF, -HUGE_VALF}) {
    QLearner learner = fresh_learner();
    const Fragment fragment = fragment_of(
        {{.state = 0, .reward = 4}, {.state = 1, .reward = spoilt}}, 2, Ending::terminated);
    try {
      learn(learner, {&fragment});
      ADD_FAILURE() << spoilt << " was learnt";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::env);
      EXPECT_EQ(error.what(),
                fmt::format("update 1: the error is {}: training stops before it spoils the table",
                            spoilt));
    }
    EXPECT_EQ(table_of(learner), (std::vector<float>{2, 0, 0, 0, 0, 0}));
    EXPECT_EQ(learner.version(), 0);
  }
}

TEST(QLearner, AValueThatGrowsBeyondFloatStopsTheRun) {
  QLearner learner = fresh_learner();
  const float most = std::numeric_limits<float>::max();
  const Fragment up = fragment_of({{.state = 0, .reward = most}}, 0, Ending::terminated);
  const Fragment down = fragment_of({{.state = 0, .reward = -most}}, 0, Ending::terminated);
  learn(learner, {&up});
  EXPECT_THROW(learn(learner, {&down}), Error);
  EXPECT_EQ(table_of(learner)[0], 0.5F * most);
}

TEST(QLearner, StatsAreMeansSinceTheLastCall) {
  QLearner learner = fresh_learner();
  const Fragment fragment =
      fragment_of({{.state = 0, .reward = 4}, {.state = 1, .reward = -2}}, 2, Ending::terminated);
  learn(learner, {&fragment}, 25);
  Result stats = learner.take_stats();
  EXPECT_EQ(stats.number("mean_td_error"), 3.0);
  EXPECT_EQ(stats.number("mean_q"), (2.0 - 1.0) / 6.0);
  EXPECT_EQ(stats.number("min_q"), -1.0);
  EXPECT_EQ(stats.number("max_q"), 2.0);
  EXPECT_EQ(stats.number("cur_lr"), 0.5);
  EXPECT_EQ(stats.number("cur_epsilon"), 0.75);
  stats = learner.take_stats();
  EXPECT_EQ(stats.number("mean_td_error"), 0.0);
  EXPECT_EQ(stats.number("max_q"), 2.0);
}

TEST(QLearner, SarsaLearnsFromTheActionThatWasTaken) {
  QLearner learner = learner_with({.update_rule = UpdateRule::sarsa});
  start_from(learner, {0, 0, 4, 8, 0, 0});
  const Fragment fragment =
      fragment_of({{.state = 0, .action = 0, .reward = 2},   // 0.5 * (2 + 0.5 * q(1, 0))
                   {.state = 1, .action = 0, .reward = 1}},  // 4 + 0.5 * (1 - 4)
                  2, Ending::terminated);
  EXPECT_EQ(learn(learner, {&fragment}), 2);
  EXPECT_EQ(table_of(learner), (std::vector<float>{2, 0, 2.5F, 8, 0, 0}));
}

TEST(QLearner, SarsaExpectsOfATruncatedEpisodeWhatThePolicyMightDo) {
  QLearner learner = learner_with({.update_rule = UpdateRule::sarsa});
  start_from(learner, {0, 0, 4, 8, 0, 0});
  const Fragment fragment = fragment_of({{.state = 0, .reward = 2}}, 1, Ending::truncated);
  learn(learner, {&fragment}, 50);  // epsilon 0.5: 0.25 * 4 + 0.75 * 8 = 7
  EXPECT_EQ(table_of(learner)[0], 0.5F * (2.0F + 0.5F * 7.0F));
}

TEST(QLearner, SarsasStepBeforeACutWaitsForTheNextAction) {
  const Fragment first = fragment_of({{.state = 0, .reward = 2}}, 1, Ending::cut);
  const Fragment other_env = fragment_of({{.state = 1, .action = 1}}, 2, Ending::terminated, 1);
  const Fragment second = fragment_of({{.state = 1, .action = 0}}, 2, Ending::terminated);
  QLearner learner = learner_with({.update_rule = UpdateRule::sarsa});
  start_from(learner, {0, 0, 4, 8, 0, 0});
  EXPECT_EQ(learn(learner, {&first}), 0);
  EXPECT_EQ(table_of(learner)[0], 0.0F);
  EXPECT_EQ(learn(learner, {&other_env}), 1);  // nobody waits there

  QLearner restored = learner_with({.update_rule = UpdateRule::sarsa});
  restore(restored, learner);
  for (QLearner* each : {&learner, &restored}) {
    EXPECT_EQ(learn(*each, {&second}), 2);
    EXPECT_EQ(table_of(*each), (std::vector<float>{2, 0, 2, 4, 0, 0}));  // 0.5 * (2 + 0.5 * 4)
  }
}

TEST(QLearner, AStepWaitsForItsOwnEpisodeOnly) {
  const Fragment lost = fragment_of({{.state = 0, .reward = 2}}, 1, Ending::cut);
  Fragment next = fragment_of({{.state = 1, .reward = 4}}, 2, Ending::terminated);
  next.policies[0].segments[0].episode = 1;
  QLearner learner = learner_with({.update_rule = UpdateRule::sarsa});
  EXPECT_EQ(learn(learner, {&lost}), 0);
  EXPECT_EQ(learn(learner, {&next}), 1);
  EXPECT_EQ(table_of(learner), (std::vector<float>{0, 0, 2, 0, 0, 0}));
}

TEST(QLearner, ExpectedSarsaLearnsFromTheMeanOfWhatThePolicyDoes) {
  for (const Ending ending : {Ending::truncated, Ending::cut, Ending::terminated}) {
    QLearner learner = learner_with({.update_rule = UpdateRule::expected_sarsa});
    start_from(learner, {0, 0, 4, 8, 0, 0});
    const Fragment fragment = fragment_of({{.state = 0, .reward = 2}}, 1, ending);
    EXPECT_EQ(learn(learner, {&fragment}, 50), 1);  // epsilon 0.5
    EXPECT_EQ(table_of(learner)[0], ending == Ending::terminated ? 1.0F : 0.5F * (2 + 0.5F * 7));
  }
}

TEST(QLearner, DoubleQLearningChangesOneTableByTheOthersValueOfItsChoice) {
  std::array<int, 2> learnt{};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    QLearner learner = learner_with({.update_rule = UpdateRule::double_q}, seed);
    start_from(learner, {0, 0, 4, 8, 0, 0});
    Weights weights = learner.weights();
    std::ranges::copy(std::vector<float>{0, 0, 6, 2, 0, 0},
                      weights.tensors.column<float>(kSecondQTable).data());
    learner.set_weights(weights);
    const Fragment fragment = fragment_of({{.state = 0, .reward = 1}}, 1, Ending::truncated);
    learn(learner, {&fragment});
    // the first chooses action 1, worth 2 to the second, which chooses 0, worth 4 to the first
    const std::array changed{table_of(learner)[0], table_of(learner, kSecondQTable)[0]};
    const bool first = changed[0] != 0.0F;
    EXPECT_EQ(changed, first ? (std::array{0.5F * (1 + 0.5F * 2), 0.0F})
                             : (std::array{0.0F, 0.5F * (1 + 0.5F * 4)}));
    ++learnt[first ? 0 : 1];
  }
  EXPECT_GT(learnt[0], 3);  // a fair coin: each table's chance to be below is 0.0013
  EXPECT_GT(learnt[1], 3);
}

TEST(QLearner, DoubleQLearningDrawsOnFromACheckpoint) {
  const Fragment fragment = fragment_of({{.state = 0, .reward = 4},
                                         {.state = 0, .reward = 2},
                                         {.state = 0, .reward = 1},
                                         {.state = 0, .reward = 8},
                                         {.state = 0, .reward = 3}},
                                        1, Ending::terminated);
  QLearner learner = learner_with({.update_rule = UpdateRule::double_q}, 1);
  QLearner restored = learner_with({.update_rule = UpdateRule::double_q}, 2);
  learn(learner, {&fragment});
  restore(restored, learner);
  learn(learner, {&fragment});
  learn(restored, {&fragment});
  EXPECT_EQ(table_of(restored), table_of(learner));
  EXPECT_EQ(table_of(restored, kSecondQTable), table_of(learner, kSecondQTable));
}

TEST(QLearner, StatsOfTwoTablesAreOfTheirMean) {
  QLearner learner = learner_with({.initial_q = 8.0, .update_rule = UpdateRule::double_q});
  start_from(learner, {0, 0, 0, 0, 0, 24});
  const Result stats = learner.take_stats();
  EXPECT_EQ(stats.number("min_q"), 4.0);
  EXPECT_EQ(stats.number("max_q"), 16.0);
  EXPECT_EQ(stats.number("mean_q"), 6.0);
}

TEST(QLearner, TheStepSizeFallsWithVisitsOfTheSameStateAndAction) {
  const Fragment fragment = fragment_of({{.state = 0, .reward = 8},   // 0.5 * 8
                                         {.state = 0, .reward = 8},   // 4 + 0.25 * (8 - 4)
                                         {.state = 1, .reward = 8}},  // its first visit: 0.5 * 8
                                        2, Ending::terminated);
  QLearningConfig config;
  config.training({.gamma = 0.0, .lr = 0.5}, {.visit_power = 1.0});
  QLearner learner(config, kStates, kActions, Rng(0));
  learn(learner, {&fragment});
  EXPECT_EQ(table_of(learner), (std::vector<float>{5, 0, 4, 0, 0, 0}));

  // the third and the fourth visit, also from a checkpoint: 5 + 0.5 / 3 * 3, and an eighth of the
  // rest
  QLearner restored(config, kStates, kActions, Rng(0));
  restore(restored, learner);
  for (QLearner* each : {&learner, &restored}) {
    learn(*each, {&fragment});
    EXPECT_FLOAT_EQ(table_of(*each)[0], 5.5F + 2.5F / 8.0F);
    EXPECT_EQ(table_of(*each)[2], 5.0F);
  }
}

TEST(QLearner, QLearningKeepsNothingButTheTable) {
  CheckpointData state;
  fresh_learner().save(state);
  EXPECT_TRUE(state.files().empty());
}

TEST(QLearner, WhatACheckpointSaysOfAnotherTableIsRefused) {
  const QLearningOptions options{.update_rule = UpdateRule::sarsa, .visit_power = 1.0};
  const QLearner saved = learner_with(options);
  CheckpointData visits;
  saved.save(visits);
  visits.add_tensors("visits.safetensors", RecordBatch({{kQTable, DType::int64, {2, 2}}}, 1));
  CheckpointData waiting;
  saved.save(waiting);
  waiting.add_json("q_learning.json",
                   R"({"turn_rng": [1, 2, 3, 4, 5], "waiting": [[0, 0, 3, 0, 1]]})");
  CheckpointData damaged;
  saved.save(damaged);
  damaged.add_json("q_learning.json", "{}");
  for (const CheckpointData* each : {&visits, &waiting, &damaged}) {
    QLearner learner = learner_with(options);
    try {
      learner.load(*each);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::checkpoint) << error.what();
    }
  }
}

TEST(QLearner, WeightsOfAnotherTableAreRefused) {
  QLearner learner = fresh_learner(3.0);
  const Weights other = fresh_table(StateIndex(SpaceLayout(Space(Discrete{.n = 2}))), kActions);
  EXPECT_THROW(learner.set_weights(other), Error);
  EXPECT_EQ(table_of(learner), std::vector<float>(6, 3.0F));
}

}  // namespace
}  // namespace knurl
