#include <algorithm>

#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

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

TEST(Checkpoints, ForeignNewerAndOlderOnesAreRefused) {
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
  EXPECT_NE(refusal(R"({"format": "knurl-checkpoint", "format_version": 3})").find("newer"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"format": "knurl-checkpoint", "format_version": 1})").find("older"),
            std::string::npos);
  EXPECT_NE(refusal("{").find("damaged"), std::string::npos);
}

}  // namespace
}  // namespace knurl::e2e
