#include <memory>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

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

/// What a terminal of so many columns gets, the last line that was written over others.
std::string last_live_line(const Scratch& scratch, const std::string& environment, int columns) {
  const std::string command = fmt::format(
      "TERM=xterm {} script -qec \"sh -c 'stty cols {}; {} train maze.yaml'\" /dev/null",
      environment, columns, knurl_binary());
  const std::string out = Process({"sh", "-c", command}, scratch.path()).wait().out;
  const std::string start = "\r\033[K";
  const std::size_t at = out.rfind(start);
  if (at == std::string::npos) return "no live line: " + out;
  const std::size_t begin = at + start.size();
  return out.substr(begin, out.find('\r', begin) - begin);
}

TEST(Output, ATerminalGetsOneLineWithTheCurveOfReturnsAndWhereTimeGoes) {
  if (!fs::exists("/usr/bin/script")) GTEST_SKIP() << "needs script, of Debian's bsdutils";
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const std::string wide = last_live_line(scratch, "LC_ALL=C.UTF-8", 250);
  EXPECT_TRUE(wide.starts_with("iter 5 [####################] 100% | 5,000 steps, ")) << wide;
  EXPECT_NE(wide.find("█"), std::string::npos) << wide;
  EXPECT_NE(wide.find("% | "), std::string::npos) << wide;
  EXPECT_NE(wide.find(" | env "), std::string::npos) << wide;
  const std::string ascii = last_live_line(scratch, "LC_ALL=C", 250);
  EXPECT_EQ(ascii.find("█"), std::string::npos) << ascii;
  EXPECT_NE(ascii.find('#', ascii.find("return")), std::string::npos) << ascii;
  for (const int columns : {10, 40, 80, 120}) {
    const std::string narrow = last_live_line(scratch, "LC_ALL=C", columns);
    EXPECT_TRUE(narrow.starts_with("iter 5")) << narrow;
    EXPECT_TRUE(std::regex_search(narrow, std::regex("(iter 5|%|steps|/s|[0-9)#]| left)$")))
        << narrow;
    EXPECT_LT(narrow.size(), static_cast<std::size_t>(columns)) << narrow;
  }
}

TEST(Output, ATerminalSeesHowLongTheFirstIterationTakes) {
  if (!fs::exists("/usr/bin/script")) GTEST_SKIP() << "needs script, of Debian's bsdutils";
  const Scratch scratch;
  write_file(scratch.path() / "slow.yaml",
             "x: {run: QLearning, env: Maze-v0, stop: {training_iteration: 1},\n"
             "    config: {min_time_s_per_iteration: 3}}\n");
  const std::string command =
      fmt::format("TERM=xterm script -qec \"sh -c 'stty cols 80; {} train slow.yaml'\" /dev/null",
                  knurl_binary());
  Process run({"sh", "-c", command}, scratch.path());
  EXPECT_TRUE(run.wait_for_output("first iteration: 0:01 so far", std::chrono::seconds(20)));
  const std::string out = run.wait().out;
  EXPECT_NE(out.find("\r\033[K\r\033[Kiter 1"), std::string::npos) << "it is written over: " << out;
}

TEST(Output, LosingItIsAnErrorUnlessTrainingIsDone) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const auto with_full_output = [&](const std::string& arguments) {
    return Process({"sh", "-c", knurl_binary() + " " + arguments + " > /dev/full"}, scratch.path())
        .wait();
  };
  EXPECT_EQ(with_full_output("list envs").exit_code, 1);
  EXPECT_EQ(with_full_output("config PPO").exit_code, 1);
  const Finished trained = with_full_output("train maze.yaml");
  EXPECT_EQ(trained.exit_code, 0);
  EXPECT_EQ(count(trained.err, "standard output cannot be written"), 1) << trained.err;
  const fs::path trial = only_trial(scratch.path() / "results");
  EXPECT_EQ(with_full_output("evaluate " + trial.string()).exit_code, 1);
  // nobody reads along any more
  EXPECT_EQ(Process({"sh", "-c",
                     "(" + knurl_binary() +
                         " train maze.yaml -o again; echo $? > code)"
                         " | head -1"},
                    scratch.path())
                .wait()
                .exit_code,
            0);
  EXPECT_EQ(read_file(scratch.path() / "code"), "0\n");
}

}  // namespace
}  // namespace knurl::e2e
