#include "knurl/envs/builtin/builtin_envs.h"

#include "knurl/envs/builtin/acrobot.h"
#include "knurl/envs/builtin/action_mask_env.h"
#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/builtin/cliff_walking.h"
#include "knurl/envs/builtin/frozen_lake.h"
#include "knurl/envs/builtin/maze.h"
#include "knurl/envs/builtin/mountain_car.h"
#include "knurl/envs/builtin/mountain_car_continuous.h"
#include "knurl/envs/builtin/pendulum.h"
#include "knurl/envs/builtin/random_env.h"
#include "knurl/envs/builtin/repeat_after_me.h"
#include "knurl/envs/builtin/stateless_cartpole.h"
#include "knurl/envs/builtin/taxi.h"
#include "knurl/envs/builtin/transformed_action_pendulum.h"

namespace knurl {
namespace {

/// What RLlib's files call an example class of its module: 2.9 and before, and since.
std::vector<std::string> rllib(const std::string& module_and_class) {
  return {"ray.rllib.examples.env." + module_and_class,
          "ray.rllib.examples.envs.classes." + module_and_class};
}

EnvEntry with_limit(EnvEntry entry, int max_episode_steps) {
  entry.max_episode_steps = max_episode_steps;
  return entry;
}

}  // namespace

std::vector<EnvEntry> builtin_envs() {
  std::vector<EnvEntry> out;
  const auto add = [&](EnvEntry entry, std::vector<std::string> aliases = {}) {
    entry.aliases = std::move(aliases);
    out.push_back(std::move(entry));
  };

  add(env_entry<CartPole>("CartPole-v1", "balance a pole on a cart (Barto et al. 1983)"));
  add(env_entry<Pendulum>("Pendulum-v1", "swing a pendulum up and hold it"));
  add(env_entry<MountainCar>("MountainCar-v0", "rock a weak car up a hill (Moore 1990)"));
  add(env_entry<MountainCarContinuous>("MountainCarContinuous-v0",
                                       "rock a car up a hill with little effort"));
  add(env_entry<Acrobot>("Acrobot-v1", "swing two links up by the joint (Sutton 1996)"));

  add(env_entry<FrozenLake>("FrozenLake-v1", "cross slippery ice without falling into a hole"));
  add(with_limit(env_entry<FrozenLake>("FrozenLake8x8-v1", "FrozenLake on 8 x 8 cells",
                                       {.map_name = LakeMap::large}),
                 200));
  add(env_entry<CliffWalking>("CliffWalking-v1",
                              "walk along a cliff (Sutton and Barto 2018, example 6.6)"),
      {"CliffWalking-v0"});
  add(env_entry<CliffWalking>("CliffWalkingSlippery-v1", "CliffWalking on slippery ground",
                              {.is_slippery = true}));
  add(env_entry<Taxi>("Taxi-v4", "fetch a passenger and bring them along (Dietterich 2000)"),
      {"Taxi-v3"});
  add(env_entry<Maze>("Maze-v0", "find the goal of a grid of cells"),
      {"maze_gym_env.GymEnvironment", "maze_gym_env.Environment"});

  add(env_entry<StatelessCartPole>("StatelessCartPole", "CartPole without velocities"),
      rllib("stateless_cartpole.StatelessCartPole"));
  std::vector<std::string> repeat = rllib("repeat_after_me_env.RepeatAfterMeEnv");
  repeat.emplace_back("RepeatAfterMeEnv");
  add(env_entry<RepeatAfterMe>("RepeatAfterMe", "say what was seen some steps ago"), repeat);
  add(env_entry<TransformedActionPendulum>("TransformedActionPendulum",
                                           "Pendulum with actions of another scale"),
      rllib("transformed_action_space_env.TransformedActionPendulum"));
  add(env_entry<RandomEnv>("RandomEnv", "noise of any spaces"), rllib("random_env.RandomEnv"));
  add(env_entry<ActionMaskEnv>("ActionMaskEnv", "noise that allows some actions, others each time"),
      rllib("action_mask_env.ActionMaskEnv"));
  const Space large = Box{.shape = {5'000}, .low = -1.0, .high = 1.0};
  add(env_entry<RandomEnv>("RandomLargeObsSpaceEnv", "noise of 5,000 numbers",
                           {.observation_space = large}),
      rllib("random_env.RandomLargeObsSpaceEnv"));
  add(env_entry<RandomEnv>("RandomLargeObsSpaceEnvContActions",
                           "noise of 5,000 numbers for 5 numbers",
                           {.observation_space = large,
                            .action_space = Box{.shape = {5}, .low = -1.0, .high = 1.0}}),
      rllib("random_env.RandomLargeObsSpaceEnvContActions"));
  return out;
}

}  // namespace knurl
