#include <chrono>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

TEST(Resume, GoesOnAndCutsWhatCameAfterTheCheckpoint) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "3", "--no-checkpoint-at-end"});
  ASSERT_EQ(json_lines(read_file(trial / "result.json")).size(), 5U);
  const Finished resumed = knurl({"train", "--resume", trial.string(), "--stop",
                                  "{timesteps_total: 8000}", "--set", "gamma=0.8"},
                                 scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const auto results = json_lines(read_file(trial / "result.json"));
  ASSERT_EQ(results.size(), 8U);
  for (int i = 0; i < 8; ++i)
    EXPECT_EQ(results[static_cast<std::size_t>(i)]["training_iteration"], i + 1);
  EXPECT_EQ(results[3]["iterations_since_restore"], 1);
  EXPECT_EQ(count(read_file(trial / "progress.csv"), "\n"), 9);
  const auto record = nlohmann::json::parse(read_file(trial / "experiment.json"));
  EXPECT_EQ(record["stop"]["timesteps_total"], 8000.0);
  EXPECT_EQ(record["resumed"][0]["checkpoint"], "checkpoint_000003");
  EXPECT_EQ(nlohmann::json::parse(read_file(trial / "params.json"))["gamma"], 0.8);
}

TEST(Resume, AFinishedRunHasNothingToDo) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const Finished resumed = knurl({"train", "--resume", trial.string()}, scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("nothing to do"), std::string::npos);
  EXPECT_EQ(json_lines(read_file(trial / "result.json")).size(), 5U);
}

TEST(Resume, ADamagedCheckpointIsPassedOverForTheOneBefore) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "2"});
  write_file(trial / "checkpoint_000005" / "algorithm.json", "{");
  const Finished resumed = knurl({"train", "--resume", trial.string()}, scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("checkpoint_000005/algorithm.json: truncated"), std::string::npos)
      << resumed.err;
  EXPECT_EQ(json_lines(read_file(trial / "result.json")).size(), 5U);
  EXPECT_EQ(knurl({"evaluate", (trial / "checkpoint_000005").string()}, scratch.path()).exit_code,
            0);
}

TEST(Resume, TwoAtOnceAreRefused) {
  const Scratch scratch;
  write_file(scratch.path() / "endless.yaml",
             "x: {run: QLearning, env: Maze-v0, checkpoint_freq: 1}");
  Process running({knurl_binary(), "train", "endless.yaml"}, scratch.path());
  ASSERT_TRUE(running.wait_for_output("iter 3 ", std::chrono::seconds(10)));
  const fs::path trial = only_trial(scratch.path() / "results");
  const Finished second = knurl({"train", "--resume", trial.string()}, scratch.path());
  EXPECT_EQ(second.exit_code, 1);
  EXPECT_NE(second.err.find("in use by another process"), std::string::npos) << second.err;
}

TEST(Resume, WhatIsNoTrialIsRefused) {
  const Scratch scratch;
  EXPECT_EQ(knurl({"train", "--resume", "nowhere"}, scratch.path()).exit_code, 3);
  EXPECT_EQ(knurl({"train", "--resume", "."}, scratch.path()).exit_code, 3);
  write_file(scratch.path() / "maze.yaml", kMaze);
  EXPECT_EQ(knurl({"train", "maze.yaml", "--resume", "."}, scratch.path()).exit_code, 2);
}

TEST(InitFrom, TakesTheWeightsAlone) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const Finished finished =
      knurl({"train", "--run", "QLearning", "--env", "Maze-v0", "--stop", "{training_iteration: 1}",
             "--set", "exploration_config.initial_epsilon=0.0", "--set",
             "exploration_config.final_epsilon=0.0", "--init-from", trial.string(), "--json"},
            scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto result = json_lines(finished.out).back();
  EXPECT_EQ(result["episode_len_mean"], 8.0);  // as well as the run it starts from
  EXPECT_EQ(result["timesteps_total"], 10'000);  // but counting anew
  const Finished other =
      knurl({"train", "--run", "PPO", "--env", "CartPole-v1", "--init-from", trial.string()},
            scratch.path());
  EXPECT_EQ(other.exit_code, 3);
}

}  // namespace
}  // namespace knurl::e2e
