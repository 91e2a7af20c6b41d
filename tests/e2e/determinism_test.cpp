// What `knurl train --deterministic` promises.

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "killed_runs.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kIterations = 15;

TEST(Deterministic, ARunThatWasKilledEndsAsTheOneThatWasNot) {
  int kills = 0;
  for (const Experiment& experiment : experiments(kIterations)) {
    const Scratch whole;
    const Scratch killed;
    const fs::path expected = train_whole(whole, experiment);
    const KilledTrial trial = train_killed(killed, experiment, 1, 7);
    kills += trial.kills;
    EXPECT_EQ(differences(expected, trial.directory), std::vector<std::string>())
        << experiment.name;
  }
  EXPECT_GE(kills, 2);  // a short run may be over before it is reached
}

TEST(Deterministic, ThreadsOfTheMachineChangeNothing) {
  for (const Experiment& experiment : experiments(kIterations)) {
    if (experiment.name != "dqn" && experiment.name != "ppo") continue;  // tables have no threads
    const Scratch one;
    const Scratch four;
    const fs::path expected =
        train_whole(one, experiment, {"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1"});
    const fs::path other =
        train_whole(four, experiment, {"OMP_NUM_THREADS=4", "OPENBLAS_NUM_THREADS=4"});
    EXPECT_EQ(differences(expected, other), std::vector<std::string>()) << experiment.name;
  }
}

TEST(Deterministic, OtherSeedsAreTold) {  // so that the tests above can fail
  Experiment experiment = experiments(kIterations).back();
  const Scratch one;
  const Scratch two;
  const fs::path first = train_whole(one, experiment);
  experiment.yaml.replace(experiment.yaml.find("seed: 4"), 7, "seed: 5");
  EXPECT_FALSE(differences(first, train_whole(two, experiment)).empty());
}

TEST(Deterministic, TheFlagIsRecordedAndKeptWhenARunIsResumed) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--deterministic"});
  const auto recorded = [&] {
    return Json::parse(read_file(trial / "experiment.json"))["deterministic"] == true &&
           Json::parse(read_file(trial / "params.json"))["deterministic"] == true;
  };
  EXPECT_TRUE(recorded());
  const auto resume = [&](std::vector<std::string> more) {
    more.insert(more.begin(),
                {"train", "--resume", trial.string(), "--stop", "{timesteps_total: 6000}"});
    return knurl(more, scratch.path());
  };
  const Finished given_up = resume({"--set", "deterministic=false"});
  EXPECT_EQ(given_up.exit_code, 2);
  EXPECT_NE(given_up.err.find("deterministic = false: the run has true"), std::string::npos)
      << given_up.err;
  const Finished timed = resume({"--set", "min_time_s_per_iteration=0.5"});
  EXPECT_EQ(timed.exit_code, 2);
  EXPECT_EQ(resume({"--deterministic"}).exit_code, 0);
  EXPECT_TRUE(recorded());
}

TEST(Deterministic, ARunThatWasNotIsNotMadeSo) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  EXPECT_EQ(Json::parse(read_file(trial / "experiment.json"))["deterministic"], false);
  const Finished finished =
      knurl({"train", "--resume", trial.string(), "--deterministic"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.err.find("deterministic = true: the run has false"), std::string::npos)
      << finished.err;
}

TEST(Deterministic, AStopByTimeIsWarnedOf) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const auto train = [&](const char* stop, const char* flag) {
    return knurl({"train", "maze.yaml", "-q", "--stop", stop, flag}, scratch.path());
  };
  const std::string warning = "stop at time_total_s 0.001: where a deterministic run ends";
  const Finished timed = train("{time_total_s: 0.001}", "--deterministic");
  EXPECT_EQ(timed.exit_code, 0);
  EXPECT_NE(timed.err.find(warning), std::string::npos) << timed.err;
  EXPECT_EQ(train("{timesteps_total: 1000}", "--deterministic").err.find("deterministic"),
            std::string::npos);
  EXPECT_EQ(train("{time_total_s: 0.001}", "--no-checkpoint-at-end").err.find("deterministic"),
            std::string::npos);
}

}  // namespace
}  // namespace knurl::e2e
