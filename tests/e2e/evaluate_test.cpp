#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

TEST(Evaluate, RunsExactlySoManyEpisodesOrSteps) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const auto evaluate = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"evaluate", trial.string(), "--json"});
    const Finished finished = knurl(more, scratch.path());
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return json_lines(finished.out);
  };
  EXPECT_EQ(evaluate({"--episodes", "7"}).size(), 8U);
  EXPECT_EQ(evaluate({"--episodes", "7"}).back()["episodes"], 7);
  EXPECT_EQ(evaluate({"--steps", "100"}).back()["steps"], 100);
  EXPECT_EQ(evaluate({"--steps", "3"}).back()["steps"], 3);
  EXPECT_EQ(evaluate({"--episodes", "5", "--seed", "3", "--explore"}),
            evaluate({"--episodes", "5", "--seed", "3", "--explore"}));
  // the algorithm and the env may be said again
  EXPECT_EQ(evaluate({"--algo", "QLearning", "--env", "Maze-v0", "--steps", "100"}).back()["steps"],
            100);
}

TEST(Evaluate, RefusesWhatDoesNotFit) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"evaluate", trial.string()});
    const Finished finished = knurl(more, scratch.path());
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    return finished.err;
  };
  EXPECT_NE(refusal({"--algo", "PPO"}).find("the checkpoint is of QLearning"), std::string::npos);
  EXPECT_NE(refusal({"--env", "CartPole-v1"}).find("a table needs a finite one"),
            std::string::npos);
  EXPECT_NE(refusal({"--set", "env_config.rows=7"}).find("do not fit"), std::string::npos);
  EXPECT_NE(refusal({"--set", "action_mask_key=x"})
                .find("action_mask_key = x: the policy is that of the checkpoint, made with "
                      "action_mask"),
            std::string::npos);
  const std::string weights = refusal({"--set", "update_rule=double_q"});
  EXPECT_NE(weights.find("the weights are those of another model"), std::string::npos);
  EXPECT_EQ(weights.find("env Maze"), std::string::npos) << "the env is not to blame";
  EXPECT_NE(refusal({"--episodes", "0"}).find("--episodes"), std::string::npos);
  EXPECT_EQ(knurl({"evaluate", "nowhere"}, scratch.path()).exit_code, 3);
}

TEST(Evaluate, RendersEachStep) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const Finished finished =
      knurl({"evaluate", trial.string(), "--episodes", "1", "--render"}, scratch.path());
  EXPECT_EQ(count(finished.out, "|S"), 8);
  EXPECT_NE(finished.out.find("| | | | |S|\n\nEpisode #1: reward: 1, length: 8, terminated\n"),
            std::string::npos)
      << finished.out;  // the goal is reached before the next episode begins
}

}  // namespace
}  // namespace knurl::e2e
