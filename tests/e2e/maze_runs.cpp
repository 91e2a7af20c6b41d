#include "maze_runs.h"

#include <sstream>

#include <gtest/gtest.h>

namespace knurl::e2e {

const char* const kMaze = R"(
maze:
  run: QLearning
  env: Maze-v0
  stop: {timesteps_total: 5000}
  config: {gamma: 0.9, seed: 1, min_sample_timesteps_per_iteration: 1000}
)";

std::filesystem::path train_maze(const Scratch& scratch, std::vector<std::string> more) {
  write_file(scratch.path() / "maze.yaml", kMaze);
  std::vector<std::string> arguments{"train", "maze.yaml", "--quiet"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Finished finished = knurl(arguments, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  return only_trial(scratch.path() / "results");
}

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

}  // namespace knurl::e2e
