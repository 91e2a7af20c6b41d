#include <algorithm>
#include <chrono>

#include <fmt/format.h>
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
  std::vector<int> events;  // each run has a file, and each iteration is in one of them
  for (const auto& entry : fs::directory_iterator(trial)) {
    if (!entry.path().filename().string().starts_with("events.out.tfevents.")) continue;
    events.push_back(count(read_file(entry.path()), "ray/tune/training_iteration"));
  }
  std::ranges::sort(events);
  EXPECT_EQ(events, (std::vector<int>{3, 5}));
  const auto record = nlohmann::json::parse(read_file(trial / "experiment.json"));
  EXPECT_EQ(record["stop"]["timesteps_total"], 8000.0);
  EXPECT_EQ(record["resumed"][0]["checkpoint"], "checkpoint_000003");
  EXPECT_EQ(nlohmann::json::parse(read_file(trial / "params.json"))["gamma"], 0.8);
}

TEST(Resume, RowsThatAreGoneAreSaid) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  fs::remove(trial / "result.json");
  const Finished resumed = knurl(
      {"train", "--resume", trial.string(), "--stop", "{timesteps_total: 6000}"}, scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("result.json: the row of iteration 5 is gone"), std::string::npos)
      << resumed.err;
}

TEST(Resume, AnExperimentsDirectoryNamesItsTrials) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const std::string experiment = trial.parent_path().string();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train", "--resume", experiment},
        {"evaluate", experiment},
        {"checkpoint", "show", experiment}}) {
    const Finished refused = knurl(command, scratch.path());
    EXPECT_EQ(refused.exit_code, 3);
    EXPECT_NE(refused.err.find("it is an experiment's directory: give one of its trials, "),
              std::string::npos)
        << refused.err;
    EXPECT_NE(refused.err.find(trial.filename().string()), std::string::npos) << refused.err;
  }
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
  EXPECT_EQ(result["episode_len_mean"], 8.0);    // as well as the run it starts from
  EXPECT_EQ(result["timesteps_total"], 10'000);  // but counting anew
  const Finished other =
      knurl({"train", "--run", "PPO", "--env", "CartPole-v1", "--init-from", trial.string()},
            scratch.path());
  EXPECT_EQ(other.exit_code, 3);
  const Finished changed =
      knurl({"train", "--run", "QLearning", "--env", "Maze-v0", "--stop", "{training_iteration: 1}",
             "--set", "action_mask_key=", "--init-from", trial.string()},
            scratch.path());
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_NE(changed.err.find("the policy is that of the checkpoint"), std::string::npos);
}

TEST(Resume, LooksBeforeItCuts) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "1"});
  const Finished nothing = knurl({"train", "--resume", (trial / "checkpoint_000002").string(),
                                  "--stop", "{timesteps_total: 2000}"},
                                 scratch.path());
  EXPECT_EQ(nothing.exit_code, 0);
  EXPECT_NE(nothing.err.find("nothing to do"), std::string::npos);
  EXPECT_EQ(json_lines(read_file(trial / "result.json")).size(), 5U);
  EXPECT_TRUE(fs::exists(trial / "checkpoint_000005"));
}

TEST(Resume, FindsTheTrialHoweverItIsNamed) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "1"});
  fs::create_directory_symlink(trial / "checkpoint_000003", scratch.path() / "link");
  int iterations = 5;
  const auto resume = [&](const std::string& name, const fs::path& from, int checkpoint) {
    const std::string stop = fmt::format("{{timesteps_total: {}}}", 1000 * ++iterations);
    const Finished finished = knurl({"train", "--resume", name, "--stop", stop, "--json"}, from);
    EXPECT_EQ(finished.exit_code, 0) << name << finished.err;
    ASSERT_FALSE(finished.out.empty());
    EXPECT_EQ(json_lines(finished.out).front()["training_iteration"], checkpoint + 1) << name;
    EXPECT_EQ(json_lines(read_file(trial / "result.json")).size(),
              static_cast<std::size_t>(iterations));
  };
  resume(".", trial, 5);
  resume("checkpoint_000006", trial, 6);
  resume(".", trial / "checkpoint_000007", 7);
  resume((scratch.path() / "link").string(), trial, 3);
  resume(trial.string() + "/", scratch.path(), 9);
  EXPECT_FALSE(fs::exists(scratch.path() / ".lock"));
}

TEST(Resume, RefusesWhatWouldMakeItAnotherRun) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"train", "--resume", trial.string(), "--stop", "{timesteps_total: 9000}"});
    const Finished finished = knurl(more, scratch.path());
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    return finished.err;
  };
  for (const char* option : {"--run", "--env", "--output", "--init-from", "--experiment-name"}) {
    EXPECT_NE(refusal({option, "X"}).find(option), std::string::npos);
  }
  EXPECT_NE(refusal({"--seed", "2"}).find("--seed"), std::string::npos);
  EXPECT_NE(
      refusal({"--set", "num_envs_per_worker=2"}).find("num_envs_per_worker = 2: the run has 1"),
      std::string::npos);
  EXPECT_NE(refusal({"--set", "seed=2"}).find("seed = 2: the run has 1"), std::string::npos);
  EXPECT_NE(refusal({"--set", "action_mask_key="})
                .find("action_mask_key = : the policy is that of the run, made with action_mask"),
            std::string::npos);
  EXPECT_EQ(json_lines(read_file(trial / "result.json")).size(), 5U);
}

TEST(Resume, WhatIsGivenAnewReplacesAndIsRecorded) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  write_file(trial / "error.txt", "an older failure");
  // the same metric by another name
  const Finished finished = knurl({"train", "--resume", trial.string(), "--json", "--stop",
                                   "{num_env_steps_sampled_lifetime: 8000}", "--config",
                                   "{lr: 0.2}", "--set", "train_batch_size=100"},
                                  scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json_lines(finished.out).back()["timesteps_total"], 8000);
  const auto record = nlohmann::json::parse(read_file(trial / "experiment.json"));
  EXPECT_EQ(record["stop"].size(), 1U);
  EXPECT_EQ(record["resumed"][0]["config"], "{lr: 0.2}");
  const auto params = nlohmann::json::parse(read_file(trial / "params.json"));
  EXPECT_EQ(params["lr"], 0.2);
  EXPECT_EQ(params["rollout_fragment_length"], 100);  // auto is worked out again
  EXPECT_FALSE(fs::exists(trial / "error.txt"));
}

TEST(Resume, DamagedRecordsAreNamed) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const std::string good = read_file(trial / "experiment.json");
  for (const char* bad : {"", "{", "[]", R"({"name": 3})", R"({"name": "x", "stop": 3})"}) {
    write_file(trial / "experiment.json", bad);
    const Finished finished = knurl({"train", "--resume", trial.string()}, scratch.path());
    EXPECT_EQ(finished.exit_code, 3) << bad;
    EXPECT_NE(finished.err.find("experiment.json: damaged"), std::string::npos) << finished.err;
  }
}

}  // namespace
}  // namespace knurl::e2e
