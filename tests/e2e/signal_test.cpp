#include <chrono>
#include <csignal>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kEndlessIteration{
    knurl_binary(), "train",   "--run", "QLearning",
    "--env",        "Maze-v0", "--set", "min_sample_timesteps_per_iteration=1000000000000"};

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
  EXPECT_TRUE(finished.out.ends_with(fmt::format("\ngo on:           {} train --resume {}\n",
                                                 knurl_binary(),
                                                 fs::relative(trial, scratch.path()).string())))
      << finished.out;
  const Finished resumed = knurl({"train", "--resume", trial.string(), "--stop",
                                  fmt::format("{{training_iteration: {}}}", iterations + 2)},
                                 scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

INSTANTIATE_TEST_SUITE_P(Each, Signals, ::testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(Signals, ALongIterationIsNotWaitedFor) {
  const Scratch scratch;
  Process running(kEndlessIteration, scratch.path());
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
  Process running(kEndlessIteration, scratch.path());
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

TEST(Signals, AnIgnoredOneStaysIgnored) {
  const Scratch scratch;
  Process running(
      {"sh", "-c",
       "trap '' INT HUP; exec " + knurl_binary() + " train --run QLearning --env Maze-v0"},
      scratch.path());
  ASSERT_TRUE(running.wait_for_output("iter 3 ", std::chrono::seconds(10)));
  running.send(SIGINT);
  running.send(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  running.send(SIGTERM);
  EXPECT_EQ(running.wait().exit_code, 143);
}

TEST(Signals, AnIterationThatHangsLosesLittle) {
  const Scratch scratch;
  // evaluation without end, after a second of short iterations and no checkpoint on the way
  write_file(scratch.path() / "hang.yaml",
             "x: {run: QLearning, env: Maze-v0, config: {evaluation_interval: 20,\n"
             "    evaluation_duration: 1000000000, min_time_s_per_iteration: 0.12}}");
  Process running({knurl_binary(), "train", "hang.yaml"}, scratch.path());
  ASSERT_TRUE(running.wait_for_output("iter 19 ", std::chrono::seconds(20)));
  running.send(SIGINT);
  EXPECT_EQ(running.wait().exit_code, 130);
  const fs::path trial = only_trial(scratch.path() / "results");
  EXPECT_FALSE(fs::exists(trial / "checkpoint_000000"));  // but one from on the way
  const Finished resumed =
      knurl({"train", "--resume", trial.string(), "--json", "--stop", "{training_iteration: 19}"},
            scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
}

}  // namespace
}  // namespace knurl::e2e
