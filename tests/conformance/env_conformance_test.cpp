#include <cctype>

#include <gtest/gtest.h>

#include "../envs/single_env.h"
#include "../envs/test_envs.h"
#include "knurl/core/config/yaml.h"
#include "knurl/envs/conformance.h"
#include "knurl/envs/registry.h"

/// Every env in the registry keeps the contract of env.h.
namespace knurl {
namespace {

struct Case {
  std::string env;
  std::string config = {};  ///< YAML
};

/// All registered envs, those that a user registers, and other options of the built-in ones.
std::vector<Case> cases() {
  register_env<testing::Corridor>("Corridor-v0", "walk right to the exit of a corridor");
  register_env<testing::Dice>("Dice-v0", "roll dice");
  register_env<testing::SavingDice>("SavingDice-v0", "roll dice, which can be saved");
  std::vector<Case> out;
  for (const EnvEntry& entry : registered_envs()) {
    out.push_back({entry.name});
    out.push_back({entry.name, "max_episode_steps: 7"});
  }
  for (const char* config :
       {"{rows: 2, columns: 2}", "{rows: 2, columns: 9}", "{rows: 30, columns: 4}",
        "random_goal: true", "{rows: 2, columns: 3, random_goal: true, max_episode_steps: 5}",
        "{rows: 1000, columns: 20, random_goal: true}"}) {
    out.push_back({"Maze-v0", config});
  }
  for (const char* wrappers :
       {"[{ClipReward: {low: -0.5, high: 0.5}}]", "[{ClipReward: {sign: true}}]",
        "[{TransformReward: {scale: -0.1, shift: 3}}]", "[EpisodeStatistics]",
        "[{TimeLimit: {max_episode_steps: 9}}]"}) {
    for (const char* env : {"CartPole-v1", "Maze-v0", "Corridor-v0", "Dice-v0", "SavingDice-v0"}) {
      out.push_back({env, fmt::format("wrappers: {}", wrappers)});
    }
  }
  for (const char* env : {"CartPole-v1", "Pendulum-v1", "Corridor-v0"}) {
    out.push_back({env, "wrappers: [{FrameStack: {num: 3}}]"});
    out.push_back({env, "wrappers: [FrameStack, {FrameStack: {num: 2}}, {ClipReward: {low: 0}}]"});
  }
  out.push_back({"CartPole-v1", "sutton_barto_reward: true"});
  out.push_back({"MountainCar-v0", "goal_velocity: 0.05"});
  out.push_back({"Acrobot-v1", "book_or_nips: nips"});
  out.push_back({"FrozenLake-v1", "is_slippery: false"});
  out.push_back({"FrozenLake-v1", "{desc: [SFS, FGH], success_rate: 0.5}"});
  out.push_back({"CliffWalking-v1", "is_slippery: true"});
  out.push_back({"Taxi-v4", "{is_rainy: true, fickle_passenger: true, fickle_probability: 1}"});
  out.push_back({"Pendulum-v1", "g: 1.62"});
  out.push_back({"RepeatAfterMe", "{repeat_delay: 0, continuous: true}"});
  out.push_back({"RepeatAfterMe", "{repeat_delay: 7, episode_len: 20}"});
  out.push_back({"TransformedActionPendulum", "{low: 300, high: 500}"});
  for (const char* config :
       {"{static_samples: true, max_episode_len: 5}",
        "{observation_space: {type: Tuple, spaces: [{type: MultiBinary, shape: [3]}, "
        "{type: Box, shape: [2, 2], low: 0, high: 255, dtype: uint8}]}, "
        "action_space: {type: Dict, spaces: {a: {type: MultiDiscrete, nvec: [2, 3]}, "
        "b: {type: Box, shape: [2]}}}, check_action_bounds: true}"}) {
    out.push_back({"RandomEnv", config});
  }
  out.push_back({"Corridor-v0", "length: 1"});
  return out;
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  std::string out = info.param.env + info.param.config;
  std::erase_if(out, [](unsigned char c) { return std::isalnum(c) == 0; });
  return out;
}

class EnvConformance : public ::testing::TestWithParam<Case> {};

TEST_P(EnvConformance, BreaksNoRule) {
  const auto& [env, config] = GetParam();
  const ConfigValue options = config.empty() ? ConfigValue() : parse_yaml(config, "test");
  for (const std::uint64_t seed : {1, 2}) {
    for (const Violation& found : check_env(env, options, {.steps = 5'000, .seed = seed})) {
      ADD_FAILURE() << knurl::name_of(found.rule) << ": " << found.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllEnvs, EnvConformance, ::testing::ValuesIn(cases()), name_of);

/// The first observation of an episode with this seed, as bytes.
std::vector<std::byte> first_observation(const Case& made, std::uint64_t seed) {
  const ConfigValue options = made.config.empty() ? ConfigValue() : parse_yaml(made.config, "test");
  testing::SingleEnv env(make_env(made.env, options), seed);
  env.reset();
  const Row row = env.observation();
  const std::byte* bytes = row.bytes(0);
  return {bytes, bytes + row.layout().leaves()[0].bytes()};
}

TEST(EnvConformance, RandomEnvsStartOtherwiseWithAnotherSeed) {
  for (const Case& random : {Case{"CartPole-v1"}, Case{"Pendulum-v1"}, Case{"MountainCar-v0"},
                             Case{"MountainCarContinuous-v0"}, Case{"Acrobot-v1"}, Case{"Taxi-v4"},
                             Case{"Maze-v0", "random_goal: true"}}) {
    int others = 0;
    for (std::uint64_t seed = 2; seed < 12; ++seed) {
      others += first_observation(random, 1) != first_observation(random, seed) ? 1 : 0;
    }
    EXPECT_GE(others, 8) << random.env;
  }
}

TEST(EnvConformance, APlainMazeIsTheSameForAllSeeds) {
  EXPECT_EQ(first_observation({"Maze-v0"}, 1), first_observation({"Maze-v0"}, 2));
}

}  // namespace
}  // namespace knurl
