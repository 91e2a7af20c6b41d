#include <map>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "command.h"

/// What the pages show is what the tests build.
namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

/// Code between fences of these languages, in order, without empty lines.
std::vector<std::string> code_blocks(const std::string& page) {
  std::vector<std::string> out;
  std::istringstream lines(page);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == "```cpp" || line == "```cmake" || line == "```yaml") {
      inside = true;
      out.emplace_back();
    } else if (line == "```") {
      inside = false;
    } else if (inside && !line.empty()) {
      out.back() += line + "\n";
    }
  }
  return out;
}

std::string without_empty_lines(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) out += line + "\n";
  }
  return out;
}

/// Whether a page shows every line of a project of the examples, and no other.
void expect_page_is_project(const std::string& page, const std::string& project,
                            std::size_t num_files) {
  const fs::path root = KNURL_SOURCE_DIR;
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(root / "apps" / "examples" / project)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().filename().string()] = without_empty_lines(read_file(entry.path()));
  }
  EXPECT_EQ(files.size(), num_files);
  std::map<std::string, std::string> shown;
  for (const std::string& block : code_blocks(read_file(root / "docs" / page))) {
    bool found = false;
    for (const auto& [name, text] : files) {
      if (found || text.find(block) == std::string::npos) continue;
      shown[name] += block;
      found = true;
    }
    EXPECT_TRUE(found) << "in none of the project's files:\n" << block;
  }
  for (const auto& [name, text] : files) EXPECT_EQ(shown[name], text) << name;
}

TEST(Docs, WriteAnEnvShowsEveryLineOfItsProjectAndNoOther) {
  expect_page_is_project("write_an_env.md", "my_env", 5);
}

TEST(Docs, WriteAModelShowsEveryLineOfItsProjectAndNoOther) {
  expect_page_is_project("write_a_model.md", "my_model", 7);
}

TEST(Docs, TheFormatOfCheckpointsNamesEveryFileOfEveryAlgorithm) {
  const Scratch scratch;
  const std::string page = read_file(fs::path(KNURL_DOCS) / "checkpoint_format.md");
  const std::string net =
      "num_rollout_workers: 0, train_batch_size: 8, normalize_rewards: true, observation_filter: "
      "MeanStdFilter";
  const std::vector<std::pair<std::string, std::string>> runs{
      {"PPO", net + ", sgd_minibatch_size: 8, num_sgd_iter: 1"},
      {"DQN", net + ", n_step: 3, exploration_config: {type: ParameterNoise}"},
      {"SimpleQ", net},
      {"QLearning", "update_rule: sarsa, visit_power: 0.7, env_config: {rows: 4}"}};
  std::set<std::string> files;
  for (const auto& [algorithm, options] : runs) {
    const std::string env = algorithm == "QLearning" ? "Maze-v0" : "CartPole-v1";
    const Finished trained =
        knurl({"train", "-q", "--run", algorithm, "--env", env, "--config", "{" + options + "}",
               "--stop", "{training_iteration: 1}", "-o", algorithm},
              scratch.path());
    ASSERT_EQ(trained.exit_code, 0) << algorithm << trained.err;
    const fs::path checkpoint = only_trial(scratch.path() / algorithm) / "checkpoint_000001";
    for (const auto& entry : fs::recursive_directory_iterator(checkpoint)) {
      if (entry.is_regular_file()) files.insert(entry.path().filename());
    }
  }
  EXPECT_EQ(files.erase("default_policy.safetensors"), 1U) << "there as policies/<policy>";
  for (const char* kind : {"dqn.json", "reward_sums.safetensors", "visits.safetensors"}) {
    EXPECT_TRUE(files.contains(kind)) << kind;
  }
  for (const std::string& file : files) {
    EXPECT_NE(page.find("`" + file + "`"), std::string::npos) << file;
  }
}

TEST(Docs, CallbacksShowsAProgramThatIsBuilt) {
  const fs::path root = KNURL_SOURCE_DIR;
  const std::string program =
      without_empty_lines(read_file(root / "apps" / "examples" / "callbacks.cpp"));
  const auto blocks = code_blocks(read_file(root / "docs" / "callbacks.md"));
  ASSERT_EQ(blocks.size(), 1U);
  EXPECT_NE(program.find(blocks[0]), std::string::npos) << blocks[0];
}

}  // namespace
}  // namespace knurl::e2e
