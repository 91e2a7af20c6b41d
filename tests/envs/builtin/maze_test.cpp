#include "knurl/envs/builtin/maze.h"

#include <set>

#include <gtest/gtest.h>

#include "../single_env.h"
#include "knurl/envs/registry.h"

namespace knurl {
namespace {

using testing::SingleEnv;

constexpr std::int64_t kDown = 0;
constexpr std::int64_t kLeft = 1;
constexpr std::int64_t kUp = 2;
constexpr std::int64_t kRight = 3;

SingleEnv maze(Maze::Config config = {}) {
  return SingleEnv(std::make_unique<Maze>(config));
}

TEST(Maze, HasFourActionsAnd25Observations) {
  const EnvSpec spec = Maze({}).spec();
  EXPECT_EQ(spec.action, Space(Discrete{.n = 4}));
  EXPECT_EQ(spec.observation, Space(Discrete{.n = 25}));
}

TEST(Maze, StartsInTheUpperLeftCornerWithTheGoalInTheLowerRight) {
  SingleEnv env = maze();
  env.reset();
  EXPECT_EQ(env.observed(), 0);
  EXPECT_EQ(env.info(), (std::vector<double>{0, 0, 4, 4, 0}));
  env.step(kDown);
  env.reset();
  EXPECT_EQ(env.observed(), 0) << "each time";
}

TEST(Maze, EachActionMovesToItsNeighbour) {
  SingleEnv env = maze();
  env.reset();
  env.step(kDown);
  EXPECT_EQ(env.observed(), 5);
  env.step(kRight);
  EXPECT_EQ(env.observed(), 6);
  env.step(kUp);
  EXPECT_EQ(env.observed(), 1);
  env.step(kLeft);
  EXPECT_EQ(env.observed(), 0);
}

TEST(Maze, WallsStopAMove) {
  SingleEnv env = maze();
  env.reset();
  for (const std::int64_t into_wall : {kUp, kLeft}) {
    const StepResult result = env.step(into_wall);
    EXPECT_EQ(env.observed(), 0);
    EXPECT_EQ(result.reward, 0.0);
  }
  for (int i = 0; i < 6; ++i) env.step(kDown);
  EXPECT_EQ(env.observed(), 20);
  for (int i = 0; i < 3; ++i) env.step(kRight);
  for (int i = 0; i < 6; ++i) env.step(kUp);
  EXPECT_EQ(env.observed(), 3);
  for (int i = 0; i < 6; ++i) env.step(kRight);
  EXPECT_EQ(env.observed(), 4);
}

TEST(Maze, ObservationIsFiveTimesRowPlusColumn) {
  SingleEnv env = maze();
  env.reset();
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t column = 0; column < 5; ++column) {
      EXPECT_EQ(env.observed(), 5 * row + column);
      EXPECT_EQ(env.info(),
                (std::vector<double>{static_cast<double>(row), static_cast<double>(column), 4, 4,
                                     row == 4 && column == 4 ? 1.0 : 0.0}));
      if (column < 4) env.step(kRight);
    }
    for (int i = 0; i < 4; ++i) env.step(kLeft);
    env.step(kDown);
  }
}

TEST(Maze, RewardIsOneAtTheGoalAndZeroOnTheWay) {
  SingleEnv env = maze();
  env.reset();
  std::vector<double> rewards;
  for (const std::int64_t action : {kDown, kRight, kDown, kRight, kDown, kRight, kDown, kRight}) {
    const StepResult result = env.step(action);
    rewards.push_back(result.reward);
    EXPECT_EQ(result.terminated, rewards.size() == 8);
    EXPECT_FALSE(result.truncated);
  }
  EXPECT_EQ(rewards, (std::vector<double>{0, 0, 0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(env.info(), (std::vector<double>{4, 4, 4, 4, 1}));
}

TEST(Maze, AnActionBeyondThreeIsInvalid) {
  SingleEnv env = maze();
  env.reset();
  for (const std::int64_t action : {4, -1}) {
    try {
      env.step(action);
      FAIL() << "took action " << action;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::env);
      EXPECT_EQ(error.what(), fmt::format("Invalid action {}: must be in [0, 3]", action));
    }
  }
  EXPECT_EQ(env.info()[0], 0.0) << "and moves nobody";
}

TEST(Maze, RendersSeekerOverGoalOverCells) {
  SingleEnv env = maze();
  env.reset();
  EXPECT_EQ(env.env().render(),
            "|S| | | | |\n"
            "| | | | | |\n"
            "| | | | | |\n"
            "| | | | | |\n"
            "| | | | |G|\n");
  env.step(kDown);
  env.step(kRight);
  EXPECT_EQ(env.env().render(),
            "| | | | | |\n"
            "| |S| | | |\n"
            "| | | | | |\n"
            "| | | | | |\n"
            "| | | | |G|\n");
  for (int i = 0; i < 3; ++i) {
    env.step(kDown);
    env.step(kRight);
  }
  EXPECT_EQ(env.env().render(),
            "| | | | | |\n"
            "| | | | | |\n"
            "| | | | | |\n"
            "| | | | | |\n"
            "| | | | |S|\n");
}

TEST(Maze, WhoeverWalksIntoTheWallForEverIsStoppedAfter100Steps) {
  SingleEnv env(make_env("Maze-v0"));
  env.reset();
  for (int step = 1; step <= 100; ++step) {
    const StepResult result = env.step(kDown);
    EXPECT_FALSE(result.terminated);
    EXPECT_EQ(result.truncated, step == 100) << step;
  }
}

TEST(Maze, OtherSizesCountTheirOwnColumns) {
  SingleEnv env = maze({.rows = 2, .columns = 7});
  env.reset();
  EXPECT_EQ(env.env().spec().observation, Space(Discrete{.n = 14}));
  EXPECT_EQ(env.info(), (std::vector<double>{0, 0, 1, 6, 0}));
  env.step(kDown);
  EXPECT_EQ(env.observed(), 7);
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(env.step(kRight).terminated);
  EXPECT_TRUE(env.step(kRight).terminated);
}

TEST(Maze, ARandomGoalIsAnyCellButTheStartAndSeen) {
  SingleEnv env = maze({.rows = 2, .columns = 3, .random_goal = true});
  EXPECT_EQ(env.env().spec().observation, Space(Discrete{.n = 36}));
  std::set<std::int64_t> goals;
  for (int i = 0; i < 200; ++i) {
    env.reset();
    const std::vector<double> info = env.info();
    const auto goal = static_cast<std::int64_t>(3 * info[2] + info[3]);
    goals.insert(goal);
    EXPECT_EQ(env.observed(), 6 * goal);
    env.step(kRight);
    EXPECT_EQ(env.observed(), 6 * goal + 1);
  }
  EXPECT_EQ(goals, (std::set<std::int64_t>{1, 2, 3, 4, 5}));
}

TEST(Maze, TheLargestMazeWithARandomGoalStillCountsRight) {
  SingleEnv env = maze({.rows = 1'000, .columns = 1'000, .random_goal = true});
  for (int i = 0; i < 20; ++i) {
    env.reset();
    const std::vector<double> info = env.info();
    EXPECT_EQ(static_cast<double>(env.observed()), 1e6 * (1e3 * info[2] + info[3]));
  }
}

}  // namespace
}  // namespace knurl
