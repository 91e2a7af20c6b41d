#include <algorithm>
#include <csignal>
#include <memory>
#include <regex>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMaze = R"(
maze:
  run: QLearning
  env: Maze-v0
  stop: {timesteps_total: 5000}
  config: {gamma: 0.9, seed: 1}
)";

int count(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++n;
  return n;
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out.push_back(nlohmann::json::parse(line));
  return out;
}

/// A maze trained in a scratch directory; the trial's directory.
fs::path train_maze(const Scratch& scratch, std::vector<std::string> more = {}) {
  write_file(scratch.path() / "maze.yaml", kMaze);
  std::vector<std::string> arguments{"train", "maze.yaml", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Finished finished = knurl(arguments, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return only_trial(scratch.path() / "results");
}

TEST(Cli, VersionListAndConfigNeedNoTrial) {
  const Scratch scratch;
  EXPECT_TRUE(std::regex_match(knurl({"--version"}, scratch.path()).out,
                               std::regex("knurl \\d+\\.\\d+\\.\\d+\n")));
  EXPECT_NE(knurl({"list", "envs"}, scratch.path()).out.find("CartPole-v1"), std::string::npos);
  EXPECT_NE(knurl({"list", "algorithms"}, scratch.path()).out.find("PPO"), std::string::npos);
  const Finished config = knurl({"config", "PPO"}, scratch.path());
  EXPECT_NE(config.out.find("clip_param = 0.3"), std::string::npos);
  EXPECT_NE(config.out.find("lambda = 1"), std::string::npos);
  EXPECT_NE(config.out.find("also: num_workers, num_env_runners"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(Cli, ConfigOfAFileIsResolved) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished config = knurl({"config", "maze.yaml"}, scratch.path());
  EXPECT_EQ(config.exit_code, 0) << config.err;
  EXPECT_NE(config.out.find("rollout_fragment_length: 10\n"), std::string::npos) << config.out;
  EXPECT_NE(config.out.find("timesteps_total: 5000"), std::string::npos);
}

TEST(Cli, HelpLeadsANewcomer) {
  const Scratch scratch;
  const Finished help = knurl({"--help"}, scratch.path());
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("knurl train configs/ppo/cartpole.yaml"), std::string::npos);
  EXPECT_NE(knurl({"train", "--help"}, scratch.path()).out.find("--resume"), std::string::npos);
  EXPECT_EQ(knurl({}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"trian"}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"train", "--nope"}, scratch.path()).exit_code, 2);
}

TEST(Cli, MistakesInAConfigNameTheirPlaceAndLeaveNothingBehind) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& yaml, std::vector<std::string> more = {}) {
    write_file(scratch.path() / "a.yaml", yaml);
    std::vector<std::string> arguments{"train", "a.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = knurl(arguments, scratch.path());
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    EXPECT_FALSE(fs::exists(scratch.path() / "results"));
    return finished.err;
  };
  EXPECT_EQ(refusal("x:\n  run: PPO\n  env: CartPole-v1\n  config:\n    gama: 0.9\n"),
            "knurl: error: a.yaml:5: x.config.gama: unknown option; did you mean gamma?\n");
  EXPECT_EQ(refusal("x:\n  run: PPO\n  env: CartPole-v1\n  config:\n    gamma: 1.5\n"),
            "knurl: error: a.yaml:5: x.config.gamma = 1.5: must be in [0, 1]\n");
  EXPECT_EQ(refusal("x: {run: PPO, env: CartPole-v1, stop: {episode_reward_meen: 100}}"),
            "knurl: error: a.yaml:1: stop.episode_reward_meen: no such metric is reported, so the "
            "run would never end; did you mean episode_reward_mean or episode_reward_min?\n");
  EXPECT_EQ(refusal("x: {run: PPO, env: CartPole-v2}"),
            "knurl: error: env CartPole-v2: unknown; did you mean CartPole-v1?\n");
  EXPECT_EQ(refusal("x: {run: PP, env: CartPole-v1}"),
            "knurl: error: algorithm PP: unknown; did you mean PPO?\n");
  EXPECT_NE(refusal("x: {run: QLearning, env: Maze-v0, config: {env_config: {row: 7}}}")
                .find("a.yaml:1: env_config.row: unknown option; did you mean rows?"),
            std::string::npos);
  EXPECT_NE(refusal("x: {run: PPO, env: CartPole-v1, checkpoint_frq: 1}")
                .find("x.checkpoint_frq: unknown option; did you mean"),
            std::string::npos);
  EXPECT_NE(refusal("x: {run: PPO, env: CartPole-v1, config: {lr: {grid_search: [1, 2]}}}")
                .find("grid_search is not available yet"),
            std::string::npos);
  EXPECT_NE(refusal("").find("a.yaml: is empty"), std::string::npos);
  EXPECT_NE(refusal("[1, 2]").find("must hold experiments"), std::string::npos);
  EXPECT_NE(refusal("x: 3").find("must be an experiment"), std::string::npos);
  EXPECT_NE(refusal("x: {env: CartPole-v1}").find("x.run: the algorithm is missing"),
            std::string::npos);
  EXPECT_NE(refusal("x: {run: QLearning, env: CartPole-v1}").find("a table needs a finite one"),
            std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--set", "gama=1"}).find("--set gama=1: config.gama: unknown option"),
            std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--set", "gamma"}).find("must be option=value"), std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--stop", "{timesteps: 10}"}).find("no such metric"),
            std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--checkpoint-score-attr", "loss"}).find("no such metric"),
            std::string::npos);
  EXPECT_EQ(knurl({"train", "no such file.yaml"}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"train", "."}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"train"}, scratch.path()).exit_code, 2);
}

TEST(Cli, ARunLeavesWhatRllibsUsersExpect) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "2"});
  EXPECT_TRUE(trial.filename().string().starts_with("QLearning_Maze-v0_"));
  EXPECT_EQ(trial.parent_path().filename(), "maze");
  const auto params = nlohmann::json::parse(read_file(trial / "params.json"));
  EXPECT_EQ(params["gamma"], 0.9);
  EXPECT_EQ(params["rollout_fragment_length"], 10);

  const auto results = json_lines(read_file(trial / "result.json"));
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[4]["training_iteration"], 5);
  EXPECT_EQ(results[4]["timesteps_total"], 5000);
  EXPECT_EQ(results[4]["done"], true);
  EXPECT_EQ(results[3]["done"], false);
  EXPECT_TRUE(results[4]["info"]["learner"]["default_policy"]["learner_stats"].contains("max_q"));

  const std::string csv = read_file(trial / "progress.csv");
  EXPECT_EQ(count(csv, "\n"), 6);
  EXPECT_NE(csv.find("info/learner/default_policy/learner_stats/max_q"), std::string::npos);
  for (const char* name : {"checkpoint_000002", "checkpoint_000004", "checkpoint_000005"}) {
    EXPECT_TRUE(fs::exists(trial / name / "manifest.json")) << name;
  }
  EXPECT_FALSE(fs::exists(trial / "checkpoint_000001"));
}

TEST(Cli, TheSeedsFormsWork) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished file =
      knurl({"train", "file", "maze.yaml", "--stop", R"({"timesteps_total": 2000})", "--json"},
            scratch.path());
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(json_lines(file.out).back()["timesteps_total"], 2000);
  const Finished flags = knurl({"train", "--run", "QLearning", "--env", "Maze-v0", "-s",
                                "{training_iteration: 3}", "--seed", "7", "--json", "-n", "named"},
                               scratch.path());
  EXPECT_EQ(flags.exit_code, 0) << flags.err;
  EXPECT_EQ(json_lines(flags.out).size(), 3U);
  EXPECT_TRUE(fs::exists(scratch.path() / "results" / "named"));
}

TEST(Cli, StopKeysOfBothVocabulariesEndARun) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  for (const char* stop :
       {"{env_runners/episode_return_mean: 0.5}", "{sampler_results: {episode_reward_mean: 0.5}}",
        "{num_env_steps_sampled_lifetime: 1000}", "{episodes_total: 1}"}) {
    const Finished finished =
        knurl({"train", "maze.yaml", "--stop", stop, "--json"}, scratch.path());
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_LT(json_lines(finished.out).size(), 5U) << stop;
  }
}

TEST(Cli, SeveralExperimentsRunInTurn) {
  const Scratch scratch;
  write_file(scratch.path() / "two.yaml",
             "one: {run: QLearning, env: Maze-v0, stop: {training_iteration: 1}}\n"
             "two: {run: QLearning, env: Maze-v0, stop: {training_iteration: 2}}\n");
  const Finished finished = knurl({"train", "two.yaml", "--json"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json_lines(finished.out).size(), 3U);
  EXPECT_TRUE(fs::exists(scratch.path() / "results" / "one"));
  EXPECT_TRUE(fs::exists(scratch.path() / "results" / "two"));
}

TEST(Cli, PipedOutputIsPlainLinesAndEndsWithTheNextCommand) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished = knurl({"train", "maze.yaml"}, scratch.path());
  EXPECT_EQ(finished.out.find('\r'), std::string::npos);
  EXPECT_EQ(finished.out.find('\033'), std::string::npos);
  EXPECT_EQ(count(finished.out, "iter "), 5);
  std::smatch match;
  const std::regex command("evaluate it:     knurl evaluate (\\S+)\n");
  ASSERT_TRUE(std::regex_search(finished.out, match, command)) << finished.out;
  const Finished evaluated = knurl({"evaluate", match[1].str()}, scratch.path());
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(count(evaluated.out, "Episode #"), 10);
}

TEST(Cli, QuietSaysNothing) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished = knurl({"train", "maze.yaml", "-q"}, scratch.path());
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "");
}

TEST(Cli, OptionsWithoutEffectAreNamedOnce) {
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml",
             "x: {run: QLearning, env: Maze-v0, stop: {training_iteration: 3},\n"
             "    config: {framework: torch, _enable_new_api_stack: true}}\n");
  const Finished finished = knurl({"train", "a.yaml"}, scratch.path());
  EXPECT_EQ(count(finished.out,
                  "without effect here: framework (knurl learns with LibTorch), "
                  "_enable_new_api_stack (knurl has one API)"),
            1)
      << finished.out;
}

TEST(Cli, AnOvershotStopIsSaid) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished =
      knurl({"train", "maze.yaml", "--stop", "{timesteps_total: 10}"}, scratch.path());
  EXPECT_NE(finished.err.find("a whole iteration was trained, 1000 in all"), std::string::npos);
}

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

TEST(Checkpoints, KeepingSomeNeverLosesTheBestOrTheLast) {
  const Scratch scratch;
  const fs::path trial = train_maze(
      scratch, {"--checkpoint-freq", "1", "--keep-checkpoints", "2", "--checkpoint-score-attr",
                "min-info/learner/default_policy/"
                "learner_stats/max_q"});
  // max_q only grows: the first checkpoint is the best for ever
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(trial)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("checkpoint_")) left.push_back(name);
  }
  std::ranges::sort(left);
  EXPECT_EQ(left, (std::vector<std::string>{"checkpoint_000001", "checkpoint_000005"}));
}

TEST(Checkpoints, DamageIsRefusedWithTheFileAndTheReason) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const fs::path checkpoint = trial / "checkpoint_000005";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(checkpoint)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  EXPECT_EQ(files.size(), 4U);
  for (const fs::path& file : files) {
    const std::string good = read_file(file);
    std::string flipped = good;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 1);
    for (const std::string& bad : {good.substr(0, good.size() / 2), flipped,
                                   std::string(good.size(), '\0'), std::string()}) {
      write_file(file, bad);
      const Finished finished = knurl({"evaluate", checkpoint.string()}, scratch.path());
      EXPECT_EQ(finished.exit_code, 3) << file;
      EXPECT_NE(finished.err.find(file.filename().string()), std::string::npos) << finished.err;
    }
    fs::remove(file);
    EXPECT_EQ(knurl({"evaluate", checkpoint.string()}, scratch.path()).exit_code, 3) << file;
    write_file(file, good);
  }
  EXPECT_EQ(knurl({"evaluate", checkpoint.string()}, scratch.path()).exit_code, 0);
}

TEST(Checkpoints, ForeignAndNewerOnesAreRefused) {
  const Scratch scratch;
  const fs::path foreign = scratch.path() / "foreign";
  fs::create_directories(foreign);
  const auto refusal = [&](const std::string& manifest) {
    write_file(foreign / "manifest.json", manifest);
    const Finished finished = knurl({"evaluate", foreign.string()}, scratch.path());
    EXPECT_EQ(finished.exit_code, 3);
    return finished.err;
  };
  EXPECT_NE(refusal(R"({"format": "other"})").find("no checkpoint of knurl's"), std::string::npos);
  EXPECT_NE(refusal(R"({"format": "knurl-checkpoint", "format_version": 2})").find("newer"),
            std::string::npos);
  EXPECT_NE(refusal("{").find("damaged"), std::string::npos);
}

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
  EXPECT_NE(resumed.out.find("nothing to do"), std::string::npos);
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
  EXPECT_EQ(result["timesteps_total"], 1000);  // but counting anew
  const Finished other =
      knurl({"train", "--run", "PPO", "--env", "CartPole-v1", "--init-from", trial.string()},
            scratch.path());
  EXPECT_EQ(other.exit_code, 3);
}

class Signals : public ::testing::TestWithParam<int> {};

TEST_P(Signals, LeaveACheckpointOfTheLastIteration) {
  const Scratch scratch;
  write_file(scratch.path() / "endless.yaml", "x: {run: QLearning, env: Maze-v0}");
  Process running({knurl_binary(), "train", "endless.yaml"}, scratch.path());
  ASSERT_TRUE(running.wait_for_output("iter 5 ", std::chrono::seconds(10)));
  running.send(GetParam());
  const Finished finished = running.wait();
  EXPECT_EQ(finished.exit_code, 128 + GetParam());
  const fs::path trial = only_trial(scratch.path() / "results");
  const auto iterations = json_lines(read_file(trial / "result.json")).size();
  EXPECT_TRUE(fs::exists(trial / fmt::format("checkpoint_{:06}", iterations) / "manifest.json"));
  const Finished resumed = knurl({"train", "--resume", trial.string(), "--stop",
                                  fmt::format("{{training_iteration: {}}}", iterations + 2)},
                                 scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

INSTANTIATE_TEST_SUITE_P(IntAndTerm, Signals, ::testing::Values(SIGINT, SIGTERM));

TEST(Signals, ALongIterationIsNotWaitedFor) {
  const Scratch scratch;
  write_file(scratch.path() / "slow.yaml",
             "x: {run: QLearning, env: Maze-v0,\n"
             "    config: {min_sample_timesteps_per_iteration: 1000000000000}}");
  Process running({knurl_binary(), "train", "slow.yaml"}, scratch.path());
  ASSERT_TRUE(running.wait_for_output("no stop condition", std::chrono::seconds(10)));
  const auto start = std::chrono::steady_clock::now();
  running.send(SIGINT);
  EXPECT_EQ(running.wait().exit_code, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  // what there was before the iteration
  const fs::path trial = only_trial(scratch.path() / "results");
  EXPECT_TRUE(fs::exists(trial / "checkpoint_000000" / "manifest.json"));
  EXPECT_EQ(knurl({"evaluate", trial.string(), "--steps", "5"}, scratch.path()).exit_code, 0);
}

TEST(Signals, ASecondOneEndsTheRunAtOnce) {
  const Scratch scratch;
  write_file(scratch.path() / "slow.yaml",
             "x: {run: QLearning, env: Maze-v0,\n"
             "    config: {min_sample_timesteps_per_iteration: 1000000000000}}");
  Process running({knurl_binary(), "train", "slow.yaml"}, scratch.path());
  ASSERT_TRUE(running.wait_for_output("no stop condition", std::chrono::seconds(10)));
  running.send(SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // signals of one kind do not queue
  const auto start = std::chrono::steady_clock::now();
  running.send(SIGTERM);
  EXPECT_EQ(running.wait().exit_code, 143);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2));
}

TEST(Signals, KillNineAtAnyMomentLeavesSomethingToResume) {
  const Scratch scratch;
  write_file(scratch.path() / "endless.yaml",
             "x: {run: QLearning, env: Maze-v0, checkpoint_freq: 1, keep_checkpoints_num: 3}");
  std::vector<std::string> command{knurl_binary(), "train", "endless.yaml"};
  fs::path trial;
  for (int kill = 0; kill < 25; ++kill) {
    Process running(command, scratch.path());
    ASSERT_TRUE(running.wait_for_output("iter ", std::chrono::seconds(10))) << running.wait().err;
    std::this_thread::sleep_for(std::chrono::microseconds(300 * kill));
    running.send(SIGKILL);
    running.wait();
    trial = only_trial(scratch.path() / "results");
    command = {knurl_binary(), "train", "--resume", trial.string()};
  }
  // rows and checkpoints are those of one run without gaps
  const std::string text = read_file(trial / "result.json");
  std::istringstream lines(text.substr(0, text.rfind('\n') + 1));
  std::int64_t expected = 1;
  for (std::string line; std::getline(lines, line); ++expected) {
    ASSERT_EQ(nlohmann::json::parse(line)["training_iteration"], expected);
  }
}

TEST(Output, OddPathsWork) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const std::string odd = "my runs/ünï(1)[x]/";
  const Finished finished =
      knurl({"train", "maze.yaml", "-o", odd, "--set", "env_config.max_episode_steps=50"},
            scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_TRUE(fs::exists(only_trial(scratch.path() / odd) / "result.json"));
  EXPECT_NE(finished.out.find("knurl evaluate 'my runs/"), std::string::npos) << finished.out;
}

TEST(Output, WhatCannotBeWrittenFailsBeforeTraining) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  write_file(scratch.path() / "file", "");
  const Finished finished = knurl({"train", "maze.yaml", "-o", "file"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.out, "");
  EXPECT_NE(finished.err.find("file"), std::string::npos);
  EXPECT_EQ(knurl({"train", "maze.yaml", "-o", "/proc/nowhere"}, scratch.path()).exit_code, 1);
}

TEST(Output, RunsThatStartTogetherDoNotShareADirectory) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  std::vector<std::unique_ptr<Process>> running;
  for (int i = 0; i < 4; ++i) {
    running.push_back(std::make_unique<Process>(
        std::vector<std::string>{knurl_binary(), "train", "maze.yaml", "-q"}, scratch.path()));
  }
  for (auto& process : running) EXPECT_EQ(process->wait().exit_code, 0);
  int trials = 0;
  for (const auto& trial : fs::directory_iterator(scratch.path() / "results" / "maze")) {
    EXPECT_EQ(json_lines(read_file(trial.path() / "result.json")).size(), 5U);
    ++trials;
  }
  EXPECT_EQ(trials, 4);
}

TEST(Output, AFullDiskIsAClearErrorAndTheLastCheckpointStays) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  // a bigger table than any file may be: 250,000 cells
  const std::string limited =
      "ulimit -f 64; trap '' XFSZ; exec " + knurl_binary() +
      " train --run QLearning --env Maze-v0 --checkpoint-freq 1 --stop '{training_iteration: 3}'"
      " --set env_config.rows=500 --set env_config.columns=500";
  Process process({"sh", "-c", limited}, scratch.path());
  const Finished finished = process.wait();
  EXPECT_EQ(finished.exit_code, 1) << finished.out;
  EXPECT_NE(finished.err.find("default_policy.safetensors: cannot be written: File too large"),
            std::string::npos)
      << finished.err;
  const fs::path trial = only_trial(scratch.path() / "results");
  EXPECT_TRUE(fs::exists(trial / "error.txt"));
  for (const auto& entry : fs::directory_iterator(trial)) {
    const std::string name = entry.path().filename();
    EXPECT_FALSE(name.starts_with(".unfinished")) << name;
    EXPECT_FALSE(name.starts_with("checkpoint_")) << name;
  }
}

/// The libraries that a command loads, as the dynamic loader tells.
std::string loaded_libraries(const Scratch& scratch, const std::vector<std::string>& arguments) {
  const fs::path log = scratch.path() / "loaded";
  knurl(arguments, scratch.path(), {"LD_DEBUG=files", "LD_DEBUG_OUTPUT=" + log.string()});
  std::string all;
  for (const auto& entry : fs::directory_iterator(scratch.path())) {
    if (!entry.path().filename().string().starts_with("loaded")) continue;
    all += read_file(entry.path());
    fs::remove(entry.path());
  }
  EXPECT_NE(all.find("libknurl_core"), std::string::npos);
  return all;
}

TEST(StartUp, TorchIsLoadedByWhatNeedsItOnly) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  write_file(scratch.path() / "typo.yaml", "x: {run: PPO, env: CartPole-v1, config: {gama: 1}}");
  const std::vector<std::vector<std::string>> without{
      {"--version"},          {"--help"},
      {"list", "envs"},       {"list", "algorithms"},
      {"config", "PPO"},      {"config", "maze.yaml"},
      {"train", "typo.yaml"}, {"train", "maze.yaml"},
      {"evaluate", "nowhere"}};
  for (const auto& arguments : without) {
    EXPECT_EQ(loaded_libraries(scratch, arguments).find("libtorch"), std::string::npos)
        << arguments.back();
  }
  const std::vector<std::string> ppo{"train",
                                     "--run",
                                     "PPO",
                                     "--env",
                                     "CartPole-v1",
                                     "--stop",
                                     "{training_iteration: 1}",
                                     "--set",
                                     "train_batch_size=64",
                                     "--set",
                                     "sgd_minibatch_size=64",
                                     "--set",
                                     "num_sgd_iter=1",
                                     "-n",
                                     "ppo"};
  EXPECT_NE(loaded_libraries(scratch, ppo).find("libtorch_cpu"), std::string::npos);
  const fs::path trial = fs::directory_iterator(scratch.path() / "results" / "ppo")->path();
  EXPECT_EQ(
      loaded_libraries(scratch, {"evaluate", trial.string(), "--episodes", "1"}).find("libtorch"),
      std::string::npos);
}

TEST(StartUp, TheReferenceBlasIsWarnedOfOnce) {
  const fs::path reference = "/usr/lib/x86_64-linux-gnu/blas";
  if (!fs::exists(reference / "libblas.so.3")) GTEST_SKIP() << "no reference BLAS is installed";
  const Scratch scratch;
  const std::vector<std::string> ppo{"train",
                                     "--run",
                                     "PPO",
                                     "--env",
                                     "CartPole-v1",
                                     "--stop",
                                     "{training_iteration: 1}",
                                     "--set",
                                     "train_batch_size=64",
                                     "--set",
                                     "sgd_minibatch_size=64",
                                     "--set",
                                     "num_sgd_iter=1"};
  EXPECT_EQ(knurl(ppo, scratch.path()).err.find("BLAS"), std::string::npos);
  const Finished slow = knurl(ppo, scratch.path(), {"LD_LIBRARY_PATH=" + reference.string()});
  EXPECT_EQ(count(slow.err, "LibTorch runs on the reference BLAS"), 1) << slow.err;
}

}  // namespace
}  // namespace knurl::e2e
