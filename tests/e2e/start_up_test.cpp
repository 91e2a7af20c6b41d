#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

/// One iteration of PPO.
const std::vector<std::string> kTinyPpo{"train",
                                        "--run",
                                        "PPO",
                                        "--env",
                                        "CartPole-v1",
                                        "--stop",
                                        "{training_iteration: 1}",
                                        "--config",
                                        "{train_batch_size: 64, sgd_minibatch_size: 64, "
                                        "num_sgd_iter: 1}"};

std::vector<std::string> tiny_ppo_with_torch() {
  std::vector<std::string> out = kTinyPpo;
  out.insert(out.end(), {"--set", "learner_backend=torch"});
  return out;
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
  const std::vector<std::vector<std::string>> without{{"--version"},
                                                      {"--help"},
                                                      {"list", "envs"},
                                                      {"list", "algorithms"},
                                                      {"config", "PPO"},
                                                      {"config", "maze.yaml"},
                                                      {"explain"},
                                                      {"explain", "kl"},
                                                      {"train", "typo.yaml"},
                                                      {"train", "maze.yaml"},
                                                      {"evaluate", "nowhere"}};
  for (const auto& arguments : without) {
    EXPECT_EQ(loaded_libraries(scratch, arguments).find("libtorch"), std::string::npos)
        << arguments.back();
  }
  EXPECT_EQ(loaded_libraries(scratch, kTinyPpo).find("libtorch"), std::string::npos);
  EXPECT_NE(loaded_libraries(scratch, tiny_ppo_with_torch()).find("libtorch_cpu"),
            std::string::npos);
  const fs::path trial = fs::directory_iterator(scratch.path() / "results" / "default")->path();
  EXPECT_EQ(
      loaded_libraries(scratch, {"evaluate", trial.string(), "--episodes", "1"}).find("libtorch"),
      std::string::npos);
  EXPECT_EQ(loaded_libraries(scratch, {"checkpoint", "show", trial.string()}).find("libtorch"),
            std::string::npos);
}

TEST(StartUp, TheReferenceBlasIsWarnedOfOnce) {
  const fs::path reference = "/usr/lib/x86_64-linux-gnu/blas";
  if (!fs::exists(reference / "libblas.so.3")) GTEST_SKIP() << "no reference BLAS is installed";
  const Scratch scratch;
  EXPECT_EQ(knurl(tiny_ppo_with_torch(), scratch.path()).err.find("BLAS"), std::string::npos);
  const Finished slow =
      knurl(tiny_ppo_with_torch(), scratch.path(), {"LD_LIBRARY_PATH=" + reference.string()});
  EXPECT_EQ(count(slow.err, "LibTorch runs on the reference BLAS"), 1) << slow.err;
}

}  // namespace
}  // namespace knurl::e2e
