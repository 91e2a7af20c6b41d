// What a run leaves about itself.

#include <regex>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json record_of(const fs::path& trial) {
  return Json::parse(read_file(trial / "experiment.json"));
}

TEST(Record, SaysWhereARunComesFrom) {
  const Scratch scratch;
  const std::string commit(40, 'c');
  fs::create_directories(scratch.path() / ".git");
  write_file(scratch.path() / ".git" / "HEAD", commit + "\n");
  const fs::path trial = train_maze(scratch);
  const Json record = record_of(trial);
  EXPECT_EQ(record["seed"], 1);
  const Json& started = record["started"];
  EXPECT_EQ(started["file"], "maze.yaml");
  EXPECT_EQ(started["git"]["commit"], commit);
  EXPECT_EQ(started["git"]["branch"], nullptr);
  EXPECT_EQ("knurl " + started["program"]["knurl"].get<std::string>() + "\n",
            knurl({"--version"}, scratch.path()).out);
  EXPECT_EQ(started["program"]["libtorch"], nullptr);  // tables need none
  EXPECT_FALSE(started["program"]["compiler"].get<std::string>().empty());
  EXPECT_FALSE(started["machine"]["system"].get<std::string>().empty());
}

TEST(Record, KeepsTheStartWhenARunIsResumed) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const Json started = record_of(trial)["started"];
  const Finished resumed =
      knurl({"train", "--resume", trial.string(), "--stop", "{timesteps_total: 6000}", "-q"},
            scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const Json record = record_of(trial);
  EXPECT_EQ(record["started"], started);
  ASSERT_EQ(record["resumed"].size(), 1U);
  EXPECT_EQ(record["resumed"][0]["program"], started["program"]);
  EXPECT_EQ(record["resumed"][0]["stop"], "{timesteps_total: 6000}");
}

TEST(Record, LogsWhatIsPrintedAndWhatEndedTheRun) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished =
      knurl({"train", "maze.yaml", "-q", "--stop", "{timesteps_total: 10}"}, scratch.path());
  const std::string log = read_file(only_trial(scratch.path() / "results") / "log.txt");
  const std::string warning = "stop at timesteps_total 10: a whole iteration was trained";
  EXPECT_EQ(count(finished.err, "knurl: warning: " + warning), 1) << finished.err;
  EXPECT_EQ(count(log, "Z warning: " + warning), 1) << log;
  EXPECT_TRUE(std::regex_search(
      log, std::regex("Z info: maze: process \\d+ trains from iteration 1 on\n")));
  EXPECT_EQ(count(log, "Z info: maze: ended: timesteps_total 1000 >= 10\n"), 1) << log;
}

TEST(Record, AnErrorIsInTheLogOfTheTrialThatItEnded) {
  const Scratch scratch;
  const std::string limited =
      "ulimit -f 64; trap '' XFSZ; exec " + knurl_binary() +
      " train --run QLearning --env Maze-v0 --stop '{training_iteration: 3}'"
      " --set env_config.rows=500 --set env_config.columns=500";
  Process({"sh", "-c", limited}, scratch.path()).wait();
  const std::string log = read_file(only_trial(scratch.path() / "results") / "log.txt");
  EXPECT_EQ(count(log, "Z error: "), 1) << log;
  EXPECT_NE(log.find("default_policy.safetensors: cannot be written"), std::string::npos);
}

}  // namespace
}  // namespace knurl::e2e
