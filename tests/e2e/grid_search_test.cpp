#include <algorithm>
#include <chrono>
#include <csignal>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

/// Two times two trials of an iteration each.
const char* const kGrid = R"(
maze:
  run: QLearning
  env: Maze-v0
  stop: {training_iteration: 1}
  config:
    gamma: {grid_search: [0.9, 0.5]}
    seed: 1
    min_sample_timesteps_per_iteration: 1000
    env_config:
      rows: {grid_search: [5, 7]}
)";

std::vector<fs::path> trials_in(const fs::path& experiment) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(experiment)) out.push_back(entry.path());
  std::ranges::sort(out);
  return out;
}

TEST(GridSearch, EachCombinationIsATrialWithItsChoicesInItsName) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml", kGrid);
  const Finished finished = knurl({"train", "grid.yaml"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const std::vector<fs::path> trials = trials_in(scratch.path() / "results" / "maze");
  ASSERT_EQ(trials.size(), 4U);
  const struct {
    const char* tag;
    double gamma;
    int rows;
  } expected[] = {{"0_gamma=0.9,rows=5", 0.9, 5},
                  {"1_gamma=0.5,rows=5", 0.5, 5},
                  {"2_gamma=0.9,rows=7", 0.9, 7},
                  {"3_gamma=0.5,rows=7", 0.5, 7}};
  for (std::size_t i = 0; i < trials.size(); ++i) {
    EXPECT_TRUE(trials[i].filename().string().starts_with(std::string("QLearning_Maze-v0_") +
                                                          expected[i].tag + "_20"))
        << trials[i];
    const auto params = nlohmann::json::parse(read_file(trials[i] / "params.json"));
    EXPECT_EQ(params["gamma"], expected[i].gamma);
    EXPECT_EQ(params["env_config"]["rows"], expected[i].rows);
    EXPECT_EQ(nlohmann::json::parse(read_file(trials[i] / "experiment.json"))["tag"],
              expected[i].tag);
  }
}

TEST(GridSearch, TheSummaryNamesTheTrialWithTheHighestReturn) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml",
             "maze: {run: QLearning, env: Maze-v0, stop: {training_iteration: 1}, config: {\n"
             "  seed: 1, min_sample_timesteps_per_iteration: 2000,\n"
             "  env_config: {rows: {grid_search: [25, 3, 35]}}}}\n");
  const Finished finished = knurl({"train", "grid.yaml"}, scratch.path());
  EXPECT_NE(finished.out.find("\n3 trials ended, 0 failed:\n"), std::string::npos) << finished.out;
  double highest = -1e9;
  fs::path best;
  for (const fs::path& trial : trials_in(scratch.path() / "results" / "maze")) {
    const auto last = json_lines(read_file(trial / "result.json")).back()["episode_reward_mean"];
    if (last.is_null() || last.get<double>() <= highest) continue;
    highest = last.get<double>();
    best = trial;
  }
  EXPECT_NE(finished.out.find(" -> results/maze/" + best.filename().string() + "\n",
                              finished.out.find("\nbest: maze ")),
            std::string::npos)
      << finished.out;
}

TEST(GridSearch, ATrialIsResumedAsAnyOther) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml", kGrid);
  EXPECT_EQ(knurl({"train", "grid.yaml", "-q"}, scratch.path()).exit_code, 0);
  const fs::path trial = trials_in(scratch.path() / "results" / "maze")[1];
  const Finished resumed = knurl(
      {"train", "--resume", trial.string(), "--stop", "{training_iteration: 2}"}, scratch.path());
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(resumed.out.starts_with("maze 1_gamma=0.5,rows=5: ")) << resumed.out;
  EXPECT_EQ(json_lines(read_file(trial / "result.json")).size(), 2U);
  EXPECT_EQ(nlohmann::json::parse(read_file(trial / "params.json"))["gamma"], 0.5);
}

TEST(GridSearch, ATrialThatFailsStopsNoOther) {
  const Scratch scratch;
  write_file(scratch.path() / "file", "");
  write_file(scratch.path() / "grid.yaml",
             "maze: {run: QLearning, env: Maze-v0, stop: {training_iteration: 1},\n"
             "       local_dir: {grid_search: [file, results]}}\n");
  const Finished finished = knurl({"train", "grid.yaml"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(finished.err.find("maze 0_local_dir=file: "), std::string::npos) << finished.err;
  EXPECT_NE(finished.out.find("\n2 trials ended, 1 failed:\n"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("best: maze 1_local_dir=results"), std::string::npos) << finished.out;
  EXPECT_EQ(trials_in(scratch.path() / "results" / "maze").size(), 1U);
}

TEST(GridSearch, ASignalEndsAllOfIt) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml",
             "x: {run: QLearning, env: Maze-v0, config: {gamma: {grid_search: [0.9, 0.5]}}}");
  Process running({knurl_binary(), "train", "grid.yaml"}, scratch.path());
  ASSERT_TRUE(running.wait_for_output("iter 2 ", std::chrono::seconds(10)));
  running.send(SIGINT);
  EXPECT_EQ(running.wait().exit_code, 130);
  const fs::path trial = only_trial(scratch.path() / "results");
  EXPECT_NE(trial.string().find("_0_gamma=0.9_"), std::string::npos) << trial;
}

TEST(GridSearch, AMistakeIsSaidOnceAndNothingTrains) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml",
             "x:\n"
             "  run: QLearning\n"
             "  env: Maze-v0\n"
             "  config:\n"
             "    gamma: {grid_search: [0.5, 1.5]}\n"
             "    lr: {grid_search: []}\n"
             "    seed: {grid_search: [1, 2, 3]}\n"
             "    gama: 1\n");
  const Finished finished = knurl({"train", "grid.yaml"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.err,
            "knurl: error: grid.yaml:5: x.config.gamma = 1.5: must be in [0, 1]\n"
            "grid.yaml:6: x.config.lr.grid_search = []: must have at least one value\n"
            "grid.yaml:8: x.config.gama: unknown option; did you mean gamma?\n");
  EXPECT_FALSE(fs::exists(scratch.path() / "results"));
}

TEST(GridSearch, ACombinationThatContradictsItselfIsNamedByItsTag) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml",
             "x:\n"
             "  run: PPO\n"
             "  env: CartPole-v1\n"
             "  config: {train_batch_size: 100, sgd_minibatch_size: {grid_search: [50, 200]}}\n");
  EXPECT_EQ(knurl({"train", "grid.yaml"}, scratch.path()).err,
            "knurl: error: x 1_sgd_minibatch_size=200: grid.yaml:4: training.sgd_minibatch_size = "
            "200 is larger than training.train_batch_size = 100\n");
}

TEST(GridSearch, ConfigShowsEveryTrial) {
  const Scratch scratch;
  write_file(scratch.path() / "grid.yaml", kGrid);
  const Finished config = knurl({"config", "grid.yaml"}, scratch.path());
  EXPECT_EQ(config.exit_code, 0) << config.err;
  EXPECT_EQ(count(config.out, "run: QLearning"), 4);
  write_file(scratch.path() / "all.yaml", config.out);
  EXPECT_EQ(knurl({"train", "all.yaml", "-q"}, scratch.path()).exit_code, 0);
}

TEST(RllibExamples, AllAreUnderstood) {
  const Scratch scratch;
  int files = 0;
  for (const auto& entry :
       fs::directory_iterator(fs::path(KNURL_SOURCE_DIR) / "tests" / "learning" / "rllib")) {
    if (entry.path().extension() != ".yaml") continue;
    const Finished config = knurl({"config", entry.path().string()}, scratch.path());
    EXPECT_EQ(config.exit_code, 0) << config.err;
    ++files;
  }
  EXPECT_EQ(files, 13);
}

}  // namespace
}  // namespace knurl::e2e
