#include "knurl/envs/builtin/builtin_envs.h"

#include "knurl/envs/builtin/acrobot.h"
#include "knurl/envs/builtin/cartpole.h"
#include "knurl/envs/builtin/cliff_walking.h"
#include "knurl/envs/builtin/frozen_lake.h"
#include "knurl/envs/builtin/maze.h"
#include "knurl/envs/builtin/mountain_car.h"
#include "knurl/envs/builtin/mountain_car_continuous.h"
#include "knurl/envs/builtin/pendulum.h"
#include "knurl/envs/builtin/taxi.h"

namespace knurl {

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
  EnvEntry large_lake = env_entry<FrozenLake>("FrozenLake8x8-v1", "FrozenLake on 8 x 8 cells",
                                              {.map_name = LakeMap::large});
  large_lake.max_episode_steps = 200;
  add(std::move(large_lake));
  add(env_entry<CliffWalking>("CliffWalking-v1",
                              "walk along a cliff (Sutton and Barto 2018, example 6.6)"),
      {"CliffWalking-v0"});
  add(env_entry<CliffWalking>("CliffWalkingSlippery-v1", "CliffWalking on slippery ground",
                              {.is_slippery = true}));
  add(env_entry<Taxi>("Taxi-v4", "fetch a passenger and bring them along (Dietterich 2000)"),
      {"Taxi-v3"});
  add(env_entry<Maze>("Maze-v0", "find the goal of a grid of cells"),
      {"maze_gym_env.GymEnvironment", "maze_gym_env.Environment"});
  return out;
}

}  // namespace knurl
