#include <algorithm>

#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

/// What `knurl config` makes of a file.
std::string config_of(const Scratch& scratch, const fs::path& file) {
  const Finished config = knurl({"config", file.string()}, scratch.path());
  EXPECT_EQ(config.exit_code, 0) << file << config.err;
  return config.out;
}

TEST(ConfigCommand, OfAFileIsAFileThatTrainsTheSame) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const std::string config = config_of(scratch, "maze.yaml");
  EXPECT_NE(config.find("epsilon_timesteps: 10000\n"), std::string::npos) << config;
  write_file(scratch.path() / "all.yaml", config);
  const auto returns = [&](const char* file) {
    std::vector<nlohmann::json> out;
    const Finished finished = knurl({"train", file, "--json"}, scratch.path());
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    for (const auto& line : json_lines(finished.out)) out.push_back(line["hist_stats"]);
    return out;
  };
  EXPECT_EQ(returns("all.yaml"), returns("maze.yaml"));
}

TEST(ConfigCommand, OfWhatItWroteIsTheSameForEveryFileOfConfigs) {
  const Scratch scratch;
  int files = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(KNURL_SOURCE_DIR) / "configs")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string once = config_of(scratch, entry.path());
    write_file(scratch.path() / "once.yaml", once);
    EXPECT_EQ(config_of(scratch, "once.yaml"), once) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 20);
}

TEST(ConfigCommand, ShowsWhatWrappersOfARunMeanAndThatTrains) {
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml", R"(
a:
  run: PPO
  env: Pendulum-v1
  stop: {training_iteration: 1}
  config:
    num_rollout_workers: 0
    train_batch_size: 32
    sgd_minibatch_size: 32
    num_sgd_iter: 1
    env_config: {wrappers: [NormalizeObservation, NormalizeReward]}
)");
  const std::string config = config_of(scratch, "a.yaml");
  EXPECT_NE(config.find("observation_filter: MeanStdFilter\n"), std::string::npos) << config;
  EXPECT_NE(config.find("normalize_rewards: true\n"), std::string::npos) << config;
  EXPECT_NE(config.find("seed: null\n"), std::string::npos) << "nobody gave one: " << config;
  write_file(scratch.path() / "b.yaml", config);
  EXPECT_EQ(config_of(scratch, "b.yaml"), config);
  const Finished trained = knurl({"train", "b.yaml", "-q"}, scratch.path());
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
}

TEST(ConfigCommand, KeepsASeedThatIsGiven) {
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml",
             "a: {run: QLearning, env: Maze-v0, config: {seed: 7, env_config: {rows: 5}}}\n");
  EXPECT_NE(config_of(scratch, "a.yaml").find("seed: 7\n"), std::string::npos);
}

}  // namespace
}  // namespace knurl::e2e
