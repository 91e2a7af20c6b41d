#include "knurl/models/exploration/exploration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <gtest/gtest.h>

#include "knurl/core/base/error.h"
#include "knurl/models/columns.h"

namespace knurl {
namespace {

constexpr std::int64_t kManyRows = 20'000;

std::vector<Rng> streams(std::int64_t rows) {
  std::vector<Rng> out;
  for (std::int64_t row = 0; row < rows; ++row) {
    out.push_back(Rng(1).split("row", static_cast<std::uint64_t>(row)));
  }
  return out;
}

ExplorationConfig constant_epsilon(double epsilon) {
  return {.type = ExplorationType::epsilon_greedy,
          .initial_epsilon = epsilon,
          .final_epsilon = epsilon};
}

/// What is chosen for rows that all have these inputs.
std::vector<std::int64_t> choices(Exploration& exploration, const std::vector<float>& inputs,
                                  std::int64_t rows) {
  const ActionDistribution distribution = Categorical{.n = static_cast<int>(inputs.size())};
  std::vector<Rng> rngs = streams(rows);
  RecordBatch out({action_column(distribution)}, rows);
  exploration.choose(distribution, {.data = inputs.data(), .rows = rows, .stride = 0}, rngs, out);
  const auto actions = out.column<std::int64_t>(column::kActions).span();
  return {actions.begin(), actions.end()};
}

std::array<std::int64_t, 4> counts_of(const std::vector<std::int64_t>& actions) {
  std::array<std::int64_t, 4> out{};
  for (const std::int64_t action : actions) ++out.at(static_cast<std::size_t>(action));
  return out;
}

TEST(Epsilon, FallsInALineAfterTheWarmup) {
  const ExplorationConfig config{.initial_epsilon = 1.0,
                                 .final_epsilon = 0.5,
                                 .warmup_timesteps = 100,
                                 .epsilon_timesteps = 200};
  EXPECT_EQ(epsilon_schedule(config).at(0), 1.0);
  EXPECT_EQ(epsilon_schedule(config).at(100), 1.0);
  EXPECT_EQ(epsilon_schedule(config).at(150), 0.875);
  EXPECT_EQ(epsilon_schedule(config).at(200), 0.75);
  EXPECT_EQ(epsilon_schedule(config).at(300), 0.5);
  EXPECT_EQ(epsilon_schedule(config).at(1'000'000'000), 0.5);
}

TEST(Epsilon, FallsAtOnceWhereItHasNoTimesteps) {
  ExplorationConfig config{.initial_epsilon = 1.0,
                           .final_epsilon = 0.25,
                           .warmup_timesteps = 10,
                           .epsilon_timesteps = 0};
  EXPECT_EQ(epsilon_schedule(config).at(9), 1.0);
  EXPECT_EQ(epsilon_schedule(config).at(10), 0.25);
  config.warmup_timesteps = 0;
  EXPECT_EQ(epsilon_schedule(config).at(0), 0.25);
}

TEST(Epsilon, MayRise) {
  const ExplorationConfig config{
      .initial_epsilon = 0.0, .final_epsilon = 1.0, .epsilon_timesteps = 4};
  EXPECT_EQ(epsilon_schedule(config).at(1), 0.25);
  EXPECT_EQ(epsilon_schedule(config).at(4), 1.0);
}

TEST(EpsilonGreedy, EpsilonIsTheShareOfRandomActions) {
  EpsilonGreedy exploration(Schedule(0.4));
  const auto counts = counts_of(choices(exploration, {0, 0, 1, 0}, kManyRows));
  // a random action is any of the four, the best among them; within 5 standard deviations
  EXPECT_NEAR(counts[0], 2'000, 213);
  EXPECT_NEAR(counts[1], 2'000, 213);
  EXPECT_NEAR(counts[2], 14'000, 325);
  EXPECT_NEAR(counts[3], 2'000, 213);
}

TEST(EpsilonGreedy, WithEpsilonZeroTheFirstOfTheBestIsAlwaysChosen) {
  EpsilonGreedy exploration(Schedule(0.0));
  EXPECT_EQ(choices(exploration, {1, 3, 3, 2}, 100), std::vector<std::int64_t>(100, 1));
}

TEST(EpsilonGreedy, WithEpsilonOneAllActionsAreAlike) {
  EpsilonGreedy exploration(Schedule(1.0));
  for (const std::int64_t count : counts_of(choices(exploration, {0, 0, 100, 0}, kManyRows))) {
    EXPECT_NEAR(count, 5'000, 307);  // 5 standard deviations
  }
}

TEST(EpsilonGreedy, FollowsTheTimestep) {
  EpsilonGreedy exploration(Schedule({{0, 1.0}, {100, 0.0}}));
  EXPECT_LT(counts_of(choices(exploration, {0, 0, 1, 0}, 1'000))[2], 400);
  exploration.set_timestep(100);
  EXPECT_EQ(counts_of(choices(exploration, {0, 0, 1, 0}, 1'000))[2], 1'000);
  exploration.set_timestep(0);
  EXPECT_LT(counts_of(choices(exploration, {0, 0, 1, 0}, 1'000))[2], 400);
}

TEST(EpsilonGreedy, AScheduleTakesThePlaceOfTheFourOptions) {
  const ExplorationConfig config{.epsilon_schedule = Schedule({{0, 0.8}, {10, 0.6}, {20, 0.0}})};
  EXPECT_EQ(epsilon_schedule(config).at(5), 0.7);
  EXPECT_EQ(epsilon_schedule(config).at(15), 0.3);
}

// 0.4^(1 + 7 i / (n - 1)): from 0.4 to 0.4^8
TEST(PerWorkerEpsilonGreedy, WorkersDifferFromBoldToShy) {
  EXPECT_DOUBLE_EQ(epsilon_of_worker({.worker = 1, .workers = 8}).value(), 0.4);
  EXPECT_DOUBLE_EQ(epsilon_of_worker({.worker = 2, .workers = 8}).value(), 0.4 * 0.4);
  EXPECT_DOUBLE_EQ(epsilon_of_worker({.worker = 8, .workers = 8}).value(), std::pow(0.4, 8));
  EXPECT_FALSE(epsilon_of_worker({.worker = 1, .workers = 1}));
  EXPECT_FALSE(epsilon_of_worker({.worker = 0, .workers = 0}));
}

// values 0 and log 3 times the temperature: chances 1/4 and 3/4
TEST(SoftQ, DrawsByTheSoftmaxOfValuesOverTheTemperature) {
  SoftQ exploration(0.5);
  const auto counts = counts_of(choices(exploration, {0.0F, 0.5F * std::log(3.0F)}, kManyRows));
  EXPECT_NEAR(counts[0], kManyRows / 4, 310);
  EXPECT_NEAR(counts[1], 3 * kManyRows / 4, 310);
}

TEST(EpsilonGreedy, RefusesActionsThatAreNotDiscrete) {
  EpsilonGreedy exploration(Schedule(0.5));
  const ActionDistribution gaussian = DiagGaussian{.n = 1};
  const std::vector<float> inputs{0, 0};
  std::vector<Rng> rngs = streams(1);
  RecordBatch out({action_column(gaussian)}, 1);
  try {
    exploration.choose(gaussian, {.data = inputs.data(), .rows = 1, .stride = 2}, rngs, out);
    ADD_FAILURE() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::config);
  }
}

TEST(StochasticSampling, DrawsInProportion) {
  StochasticSampling exploration;
  // p = (0.75, 0.25)
  const auto counts = counts_of(choices(exploration, {std::log(3.0F), 0.0F}, kManyRows));
  EXPECT_NEAR(counts[0], 15'000, 307);  // 5 standard deviations
}

TEST(Greedy, TakesTheFirstOfTheBestAndDrawsNothing) {
  Greedy exploration;
  EXPECT_EQ(choices(exploration, {1, 3, 3, 2}, 50), std::vector<std::int64_t>(50, 1));

  const ActionDistribution gaussian = DiagGaussian{.n = 2};
  const std::vector<float> inputs{0.5F, -2, 3, 3};
  std::vector<Rng> rngs = streams(1);
  RecordBatch out({action_column(gaussian)}, 1);
  exploration.choose(gaussian, {.data = inputs.data(), .rows = 1, .stride = 4}, rngs, out);
  EXPECT_TRUE(std::ranges::equal(out.column<float>(column::kActions).row(0),
                                 std::vector<float>{0.5F, -2}));  // the mean
  EXPECT_EQ(rngs, streams(1));
}

TEST(MakeExploration, GreedyActingWinsOverTheType) {
  const ExplorationConfig sampling{.type = ExplorationType::stochastic_sampling};
  const ExplorationConfig epsilon = constant_epsilon(1.0);
  const auto made = [](const ExplorationConfig& config, Acting acting) {
    return make_exploration(config, acting);
  };
  EXPECT_TRUE(dynamic_cast<StochasticSampling*>(made(sampling, Acting::exploring).get()) !=
              nullptr);
  EXPECT_TRUE(dynamic_cast<EpsilonGreedy*>(made(epsilon, Acting::exploring).get()) != nullptr);
  for (const ExplorationConfig& config : {sampling, epsilon}) {
    EXPECT_TRUE(dynamic_cast<Greedy*>(made(config, Acting::greedy).get()) != nullptr);
  }
}

/// What holds for every way of exploring.
class EachExploration : public ::testing::TestWithParam<ExplorationType> {
 protected:
  static std::unique_ptr<Exploration> fresh() {
    return make_exploration({.type = GetParam(), .initial_epsilon = 1.0, .epsilon_timesteps = 100},
                            Acting::exploring);
  }
};

TEST_P(EachExploration, ARowsChoiceDependsOnItsOwnStreamAlone) {
  const auto exploration = fresh();
  const ActionDistribution distribution = Categorical{.n = 3};
  std::vector<float> inputs;
  Rng rng(2);
  for (int i = 0; i < 40 * 5; ++i) inputs.push_back(static_cast<float>(rng.normal()));
  std::vector<Rng> together = streams(40);
  RecordBatch all({action_column(distribution)}, 40);
  exploration->choose(distribution, {.data = inputs.data(), .rows = 40, .stride = 5}, together,
                      all);
  for (std::int64_t row = 0; row < 40; ++row) {
    std::vector<Rng> alone{streams(40)[static_cast<std::size_t>(row)]};
    RecordBatch one({action_column(distribution)}, 1);
    exploration->choose(distribution, {.data = inputs.data() + 5 * row, .rows = 1, .stride = 5},
                        alone, one);
    EXPECT_EQ(one.column<std::int64_t>(column::kActions)[0],
              all.column<std::int64_t>(column::kActions)[row]);
    EXPECT_EQ(alone[0], together[static_cast<std::size_t>(row)]);
  }
}

TEST_P(EachExploration, ARestoredOneChoosesAsTheOneThatWasSaved) {
  const std::vector<float> inputs{0, 0.5F, 1, 0};
  const auto saved = fresh();
  saved->set_timestep(50);
  choices(*saved, inputs, 10);
  ByteWriter out;
  saved->save(out);

  const auto restored = fresh();
  ByteReader in(out.bytes());
  restored->load(in);
  restored->set_timestep(50);
  EXPECT_EQ(in.remaining(), 0U);
  EXPECT_EQ(choices(*restored, inputs, 200), choices(*saved, inputs, 200));
}

TEST_P(EachExploration, ARowWithoutAStreamIsRefused) {
  const ActionDistribution distribution = Categorical{.n = 2};
  const std::vector<float> inputs(4);
  std::vector<Rng> one = streams(1);
  RecordBatch out({action_column(distribution)}, 2);
  EXPECT_THROW(
      fresh()->choose(distribution, {.data = inputs.data(), .rows = 2, .stride = 2}, one, out),
      std::logic_error);
}

INSTANTIATE_TEST_SUITE_P(Type, EachExploration,
                         ::testing::Values(ExplorationType::stochastic_sampling,
                                           ExplorationType::epsilon_greedy));

}  // namespace
}  // namespace knurl
