#include "knurl/algorithms/q_learning/q_learner.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

// three states, two actions
const SpaceLayout kStates(Space(Discrete{.n = 3}));
const SpaceLayout kActions(Space(Discrete{.n = 2}));

/// Learns half of each error, gamma 0.5.
QLearner fresh_learner(double initial_q = 0.0) {
  QLearningConfig config;
  config.training({.gamma = 0.5, .lr = 0.5}, {.initial_q = initial_q})
      .exploration({.exploration_config = {
                        .initial_epsilon = 1.0, .final_epsilon = 0.0, .epsilon_timesteps = 100}});
  return {config, kStates, kActions};
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

std::vector<float> table_of(const QLearner& learner) {
  const Weights weights = learner.weights();
  const auto values = weights.tensors.column<float>(kQTable).span();
  return {values.begin(), values.end()};
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

TEST(QLearner, WeightsOfAnotherTableAreRefused) {
  QLearner learner = fresh_learner(3.0);
  const Weights other = fresh_table(StateIndex(SpaceLayout(Space(Discrete{.n = 2}))), kActions);
  EXPECT_THROW(learner.set_weights(other), Error);
  EXPECT_EQ(table_of(learner), std::vector<float>(6, 3.0F));
}

}  // namespace
}  // namespace knurl
