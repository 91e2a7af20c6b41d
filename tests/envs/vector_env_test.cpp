#include "knurl/envs/vector_env.h"

#include <chrono>

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include "batch_driver.h"
#include "knurl/envs/registry.h"
#include "test_envs.h"

namespace knurl {
namespace {

using testing::BatchDriver;
using testing::BatchStep;
using testing::BusyCounter;
using testing::Counter;
using testing::Dice;

/// An env of every class that there is, with episodes short enough to see many of them, and one
/// that cannot save and has parts of several types.
std::map<std::string, EnvFactory> all_envs() {
  std::map<std::string, EnvFactory> out;
  for (const EnvEntry& entry : testing::one_env_a_class()) {
    out[entry.name] = [name = entry.name] {
      ConfigValue config = ConfigValue::empty_map();
      config["max_episode_steps"] = ConfigValue::of(90);
      return make_env(name, config);
    };
  }
  out["Dice"] = [] { return std::make_unique<Dice>(); };
  return out;
}

EnvFactory counters(int length) {
  return [length] { return std::make_unique<Counter>(length); };
}

BatchDriver drive(const std::string& name, const EnvFactory& factory,
                  const VectorEnvOptions& options, std::uint64_t seed = 7) {
  return BatchDriver(make_vector_env(name, factory, Rng(seed), options));
}

VectorEnvOptions options_for(int num_envs, Stepping stepping) {
  return {.num_envs = num_envs, .total_envs = num_envs, .stepping = stepping, .num_threads = 4};
}

/// Threads that TBB would use for a loop started here: tells an arena of ours from none.
int threads_here() {
  return oneapi::tbb::this_task_arena::max_concurrency();
}

TEST(VectorEnv, AllWaysOfSteppingGiveTheSameResults) {
  for (const auto& [name, factory] : all_envs()) {
    for (const int num_envs : {1, 3, 8}) {
      BatchDriver serial = drive(name, factory, options_for(num_envs, Stepping::serial));
      BatchDriver parallel = drive(name, factory, options_for(num_envs, Stepping::parallel));
      BatchDriver automatic = drive(name, factory, options_for(num_envs, Stepping::automatic));
      for (BatchDriver* driver : {&serial, &parallel, &automatic}) driver->reset();
      ASSERT_EQ(serial.result(), parallel.result()) << name;
      ASSERT_EQ(serial.result(), automatic.result()) << name;
      std::size_t ended = 0;
      for (int i = 0; i < 1'000; ++i) {
        const BatchStep expected = serial.step();
        ASSERT_TRUE(expected == parallel.step()) << name << ", step " << i;
        ASSERT_TRUE(expected == automatic.step()) << name << ", step " << i;
        ended += expected.ended.size();
      }
      EXPECT_GE(ended, 5U * static_cast<std::size_t>(num_envs)) << name;
    }
  }
}

/// Env i's part of a step.
BatchStep part_of(const BatchStep& step, std::size_t i, std::size_t info) {
  BatchStep out{.observation = {step.observation[i]},
                .final_observation = {step.final_observation[i]},
                .reward = {step.reward[i]},
                .terminated = {step.terminated[i]},
                .truncated = {step.truncated[i]},
                .episode = {step.episode[i]},
                .episode_length = {step.episode_length[i]}};
  for (std::size_t k = 0; k < info; ++k) out.info.push_back(step.info[i * info + k]);
  for (const EpisodeSummary& ended : step.ended) {
    if (ended.env == static_cast<int>(i)) out.ended.push_back(ended);
  }
  return out;
}

TEST(VectorEnv, AnEnvThatWaitsStaysAsItIsAndGoesOnWhereItStood) {
  for (const auto& [name, factory] : all_envs()) {
    for (const Stepping stepping : {Stepping::serial, Stepping::parallel}) {
      BatchDriver always = drive(name, factory, options_for(3, Stepping::serial));
      BatchDriver waiting = drive(name, factory, options_for(3, stepping));
      const std::size_t info = always.env().spec().info.size();
      always.reset();
      waiting.reset();
      std::vector<BatchStep> expected;
      for (int i = 0; i < 300; ++i) expected.push_back(always.step());
      BatchStep before = waiting.result();
      std::array<std::size_t, 3> taken{};
      for (std::size_t i = 0; i < 300; ++i) {
        std::array<std::uint8_t, 3> active{};
        for (std::size_t env = 0; env < 3; ++env) active[env] = (i + env) % 3 == 0 || i % 7 == 3;
        const BatchStep step = waiting.step(active);
        for (std::size_t env = 0; env < 3; ++env) {
          BatchStep unchanged = part_of(before, env, info);
          unchanged.ended.clear();
          const BatchStep& right =
              active[env] ? part_of(expected[taken[env]++], env, info) : unchanged;
          ASSERT_TRUE(part_of(step, env, info) == right) << name << ", step " << i << ", " << env;
        }
        before = step;
      }
      EXPECT_GT(taken[2], 100U);
    }
  }
}

TEST(VectorEnv, ARestartedBatchIsANewOne) {
  BatchDriver used = drive("Dice", all_envs()["Dice"], options_for(3, Stepping::serial), 1);
  used.reset();
  for (int i = 0; i < 50; ++i) used.step();
  used.env().restart(Rng(7));
  BatchDriver fresh = drive("Dice", all_envs()["Dice"], options_for(3, Stepping::serial), 7);
  used.reset();
  fresh.reset();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(used.step() == fresh.step()) << i;
}

TEST(VectorEnv, OnlyParallelSteppingRunsInAnArena) {
  const int outside = threads_here();
  const int inside = outside + 2;
  for (const auto& [stepping, expected] :
       {std::pair(Stepping::serial, outside), std::pair(Stepping::parallel, inside)}) {
    std::array<std::atomic<int>, 2> seen{};
    int made = 0;
    const EnvFactory factory = [&] {
      return std::make_unique<BusyCounter>(
          10, [&seen, i = static_cast<std::size_t>(made++)](int) { seen[i] = threads_here(); });
    };
    VectorEnvOptions options = options_for(2, stepping);
    options.num_threads = inside;
    BatchDriver driver = drive("Counter", factory, options);
    driver.reset();
    driver.step();
    EXPECT_EQ(seen[0], expected);
    EXPECT_EQ(seen[1], expected);
  }
}

/// Threads that the last of 100 steps saw, where each step of an env takes 100 µs. The steps give
/// what serial ones give, before and after the choice.
int threads_of_slow_steps(int num_threads) {
  std::atomic<int> seen = 0;
  const auto factory = [&] {
    return std::make_unique<BusyCounter>(10, [&seen](int) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(100);
      while (std::chrono::steady_clock::now() < end) {
      }
      seen = threads_here();
    });
  };
  VectorEnvOptions options = options_for(2, Stepping::automatic);
  options.num_threads = num_threads;
  BatchDriver driver = drive("Counter", factory, options);
  BatchDriver serial = drive("Counter", counters(10), options_for(2, Stepping::serial));
  driver.reset();
  serial.reset();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(driver.step(), serial.step());
  return seen;
}

TEST(VectorEnv, AutomaticSteppingGoesParallelWhereStepsAreSlow) {
  const int outside = threads_here();
  EXPECT_EQ(threads_of_slow_steps(outside + 2), outside + 2);
  EXPECT_EQ(threads_of_slow_steps(1), outside) << "one thread is nothing to share among";
}

TEST(VectorEnv, TheSameStepResetKeepsTheFinalObservation) {
  BatchDriver driver = drive("Counter", counters(4), options_for(1, Stepping::serial));
  driver.reset();
  std::vector<float> observed;
  for (int i = 0; i < 5; ++i) {
    observed.push_back(driver.columns().column<float>("observation")[0]);
    const BatchStep step = driver.step();
    EXPECT_EQ(step.terminated[0], i == 3 ? 1 : 0);
    EXPECT_EQ(step.ended.size(), i == 3 ? 1U : 0U);
    if (i == 3) {
      EXPECT_EQ(driver.columns().column<float>("final_observation")[0], 4.0F);
    }
  }
  EXPECT_EQ(observed, (std::vector<float>{0, 1, 2, 3, 0}));
}

TEST(VectorEnv, TheFinalObservationHasAllParts) {
  BatchDriver driver = drive(
      "Dice", [] { return std::make_unique<Dice>(); }, options_for(3, Stepping::serial));
  driver.reset();
  int ended = 0;
  for (int i = 0; i < 500; ++i) {
    const BatchStep step = driver.step();
    for (const EpisodeSummary& episode : step.ended) {
      ++ended;
      RecordBatch& columns = driver.columns();
      EXPECT_EQ(columns.column<std::int64_t>("final_observation/turn")[episode.env],
                episode.length);
      EXPECT_EQ(columns.column<float>("final_observation/sum")[episode.env],
                static_cast<float>(episode.info.at(0)));
      EXPECT_EQ(columns.column<std::int64_t>("observation/turn")[episode.env], 0);
      const auto pips = columns.column<std::uint8_t>("final_observation/pips").row(episode.env);
      EXPECT_TRUE(std::ranges::all_of(pips, [](std::uint8_t pip) { return pip >= 1; }));
    }
  }
  EXPECT_GT(ended, 20);
}

TEST(VectorEnv, ASummaryTellsHowTheEpisodeWent) {
  BatchDriver driver =
      drive("Counter", counters(3), {.num_envs = 2, .first_env = 4, .total_envs = 9});
  driver.reset();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(driver.step().ended.empty());
  const double three_steps = 0.1 + 0.1 + 0.1;
  const std::vector<EpisodeSummary> expected{{.episode = 4,
                                              .env = 4,
                                              .episode_return = three_steps,
                                              .length = 3,
                                              .ended_at = 3,
                                              .terminated = true},
                                             {.episode = 5,
                                              .env = 5,
                                              .episode_return = three_steps,
                                              .length = 3,
                                              .ended_at = 3,
                                              .terminated = true}};
  EXPECT_EQ(driver.step().ended, expected);
  EXPECT_TRUE(driver.step().ended.empty());
}

TEST(VectorEnv, ASummaryTellsATruncationFromATermination) {
  BatchDriver driver = drive(
      "CartPole-v1", [] { return make_env("CartPole-v1"); }, options_for(4, Stepping::serial));
  BatchDriver limited = drive(
      "Pendulum-v1", [] { return make_env("Pendulum-v1"); }, options_for(1, Stepping::serial));
  driver.reset();
  limited.reset();
  int falls = 0;
  for (int i = 0; i < 200; ++i) {
    for (const EpisodeSummary& episode : driver.step().ended) {
      EXPECT_TRUE(episode.terminated);
      ++falls;
    }
    for (const EpisodeSummary& episode : limited.step().ended) {
      EXPECT_FALSE(episode.terminated);
      EXPECT_EQ(episode.length, 200);
      EXPECT_EQ(i, 199);
    }
  }
  EXPECT_GT(falls, 8);
}

TEST(VectorEnv, ReturnsAreSumsInDouble) {
  BatchDriver driver = drive("Counter", counters(10'000), options_for(1, Stepping::serial));
  driver.reset();
  double expected = 0.0;
  float in_float = 0.0F;
  std::vector<EpisodeSummary> ended;
  for (int i = 0; i < 10'000; ++i) {
    ended = driver.step().ended;
    expected += 0.1;
    in_float += 0.1F;
  }
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended[0].episode_return, expected);
  EXPECT_GT(std::abs(expected - static_cast<double>(in_float)), 1e-3);
}

TEST(VectorEnv, InfoIsOfTheStepAndStaysInTheSummary) {
  BatchDriver driver = drive(
      "Maze-v0", [] { return make_env("Maze-v0"); }, options_for(1, Stepping::serial));
  driver.reset();
  for (const std::int64_t action : {0, 0, 0, 0, 3, 3, 3}) {
    driver.columns().column<std::int64_t>("action")[0] = action;
    driver.step_as_given();
  }
  EXPECT_EQ(driver.result().info, (std::vector<double>{4, 3, 4, 4, 0}));
  driver.columns().column<std::int64_t>("action")[0] = 3;
  const BatchStep last = driver.step_as_given();
  EXPECT_EQ(last.info, (std::vector<double>{4, 4, 4, 4, 1})) << "before the reset, not after";
  ASSERT_EQ(last.ended.size(), 1U);
  EXPECT_EQ(last.ended[0].info, last.info);
}

TEST(VectorEnv, TheKthEpisodeOfEnvGIsNumberedGPlusKTimesAll) {
  BatchDriver driver =
      drive("Counter", counters(2), {.num_envs = 2, .first_env = 2, .total_envs = 5});
  driver.reset();
  std::vector<std::int64_t> of_first;
  std::vector<std::int64_t> of_second;
  for (int i = 0; i < 6; ++i) {
    of_first.push_back(driver.env().episode(0));
    of_second.push_back(driver.env().episode(1));
    driver.step();
  }
  EXPECT_EQ(of_first, (std::vector<std::int64_t>{2, 2, 7, 7, 12, 12}));
  EXPECT_EQ(of_second, (std::vector<std::int64_t>{3, 3, 8, 8, 13, 13}));
}

TEST(VectorEnv, AnEpisodesRandomStreamIsSplitFromTheRunsByItsNumber) {
  BatchDriver driver = drive(
      "CartPole-v1", [] { return make_env("CartPole-v1"); },
      {.num_envs = 3, .first_env = 2, .total_envs = 7}, 11);
  driver.reset();
  const std::unique_ptr<Env> alone = make_env("CartPole-v1");
  const SpaceLayout layout(alone->spec().observation);
  SpaceValue observation(layout);
  const auto first_observation_of = [&](std::uint64_t episode) {
    Rng rng = Rng(11).split("episode", episode);
    alone->reset(rng, observation.row());
    const auto values = observation.row().as<float>();
    return std::vector<float>(values.begin(), values.end());
  };
  const auto row = [&](int env) {
    const auto values = driver.columns().column<float>("observation").row(env);
    return std::vector<float>(values.begin(), values.end());
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(row(i), first_observation_of(static_cast<std::uint64_t>(2 + i)));
  }
  EXPECT_NE(row(0), row(1));
  while (driver.step().ended.empty()) {
  }
  const EpisodeSummary ended = driver.env().ended()[0];
  EXPECT_EQ(row(ended.env - 2),
            first_observation_of(static_cast<std::uint64_t>(ended.episode + 7)));
}

/// What the policy saw and got in each episode of a run of 4 envs, dealt to batches of `each`.
std::map<std::int64_t, std::vector<std::vector<std::byte>>> episodes_of_split(
    const std::string& name, const EnvFactory& factory, int each) {
  std::map<std::int64_t, std::vector<std::vector<std::byte>>> out;
  for (int first = 0; first < 4; first += each) {
    BatchDriver driver =
        drive(name, factory, {.num_envs = each, .first_env = first, .total_envs = 4});
    driver.reset();
    BatchStep before = driver.result();
    for (int i = 0; i < 400; ++i) {
      const BatchStep after = driver.step();
      for (std::size_t env = 0; env < before.episode.size(); ++env) {
        auto& episode = out[before.episode[env]];
        episode.push_back(before.observation[env]);
        episode.push_back(after.final_observation[env]);
        ByteWriter rest;
        write(rest, std::tuple(after.reward[env], after.terminated[env], after.truncated[env]));
        episode.push_back(rest.take_bytes());
      }
      before = after;
    }
  }
  return out;
}

TEST(VectorEnv, OneRunHasTheSameEpisodesHoweverItsEnvsAreDealt) {
  for (const auto& [name, factory] : all_envs()) {
    const auto one_by_four = episodes_of_split(name, factory, 4);
    EXPECT_GE(one_by_four.size(), 8U) << name;
    EXPECT_TRUE(one_by_four == episodes_of_split(name, factory, 2)) << name;
    EXPECT_TRUE(one_by_four == episodes_of_split(name, factory, 1)) << name;
  }
}

TEST(VectorEnv, AnotherSeedGivesOtherEpisodes) {
  for (const std::string name : {"CartPole-v1", "Pendulum-v1"}) {
    const auto first = [&](std::uint64_t seed) {
      BatchDriver driver = drive(
          name, [&] { return make_env(name); }, options_for(2, Stepping::serial), seed);
      driver.reset();
      return driver.result().observation;
    };
    EXPECT_EQ(first(1), first(1));
    EXPECT_NE(first(1), first(2));
  }
}

TEST(VectorEnv, ResetInTheMiddleStartsEpisodesInAllEnvs) {
  BatchDriver driver = drive("Counter", counters(5), options_for(2, Stepping::serial));
  driver.reset();
  for (int i = 0; i < 3; ++i) driver.step();
  driver.reset();
  EXPECT_EQ(driver.columns().column<float>("observation")[1], 0.0F);
  EXPECT_EQ(driver.env().episode_length(1), 0);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(driver.step().ended.empty());
  const std::vector<EpisodeSummary> ended = driver.step().ended;
  ASSERT_EQ(ended.size(), 2U);
  EXPECT_EQ(ended[0].length, 5);
  EXPECT_EQ(ended[0].episode_return, 0.1 + 0.1 + 0.1 + 0.1 + 0.1);
}

TEST(VectorEnv, ActionsGoToTheirOwnEnv) {
  BatchDriver driver = drive(
      "Maze-v0", [] { return make_env("Maze-v0"); }, options_for(8, Stepping::parallel));
  driver.reset();
  for (int i = 0; i < 8; ++i) driver.columns().column<std::int64_t>("action")[i] = i % 4;
  driver.step_as_given();
  // from the corner: 0 goes down, 3 goes right, 1 and 2 meet the wall
  for (int i = 0; i < 8; ++i) {
    const std::int64_t expected = i % 4 == 0 ? 5 : i % 4 == 3 ? 1 : 0;
    EXPECT_EQ(driver.columns().column<std::int64_t>("observation")[i], expected) << i;
  }
}

TEST(VectorEnv, RendersTheEnvThatIsAskedFor) {
  BatchDriver driver = drive(
      "Maze-v0", [] { return make_env("Maze-v0"); }, options_for(2, Stepping::serial));
  driver.reset();
  driver.columns().column<std::int64_t>("action")[0] = 1;
  driver.columns().column<std::int64_t>("action")[1] = 3;
  driver.step_as_given();
  EXPECT_EQ(driver.env().render(0).substr(0, 12), "|S| | | | |\n");
  EXPECT_EQ(driver.env().render(1).substr(0, 12), "| |S| | | |\n");
}

}  // namespace
}  // namespace knurl
