// knurl checkpoint show | verify | diff

#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

TEST(CheckpointTools, ShowTellsWhatIsInIt) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch);
  const Finished finished = knurl({"checkpoint", "show", trial.string()}, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  const auto has = [&](const std::string& text) {
    EXPECT_NE(finished.out.find(text), std::string::npos) << finished.out;
  };
  has((trial / "checkpoint_000005").string() + ": format 2, written by knurl");
  has("QLearning on Maze-v0, iteration 5: 5,000 env steps, ");
  has("q_table                              float32  [25, 4]\n");
  has("  policies/default_policy.safetensors, ");
  EXPECT_EQ(knurl({"checkpoint", "show", "nowhere"}, scratch.path()).exit_code, 3);
}

TEST(CheckpointTools, VerifyNamesEveryDamagedFile) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "1"});
  const Finished whole = knurl({"checkpoint", "verify", trial.string()}, scratch.path());
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_EQ(count(whole.out, ": whole, 3 files\n"), 5);

  const fs::path bad = trial / "checkpoint_000003";
  write_file(bad / "algorithm.json", "{}");
  fs::remove(bad / "workers.safetensors");
  const Finished damaged = knurl({"checkpoint", "verify", trial.string()}, scratch.path());
  EXPECT_EQ(damaged.exit_code, 3);
  EXPECT_EQ(count(damaged.out, ": whole"), 4);
  EXPECT_EQ(count(damaged.err, "\n"), 2) << damaged.err;
  EXPECT_NE(damaged.err.find((bad / "algorithm.json").string() + ": truncated: 2 bytes of"),
            std::string::npos);
  EXPECT_NE(damaged.err.find((bad / "workers.safetensors").string() + ": is missing"),
            std::string::npos);
  EXPECT_EQ(knurl({"checkpoint", "verify", "nowhere"}, scratch.path()).exit_code, 3);
}

TEST(CheckpointTools, DiffSaysWhatDiffersAndByHowMuch) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "1"});
  const auto diff = [&](const std::string& a, const std::string& b) {
    return knurl({"checkpoint", "diff", (trial / a).string(), (trial / b).string()},
                 scratch.path());
  };
  const Finished same = diff("checkpoint_000005", "");  // of a trial the newest
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(same.out, "the same, bit for bit: 3 files\n");

  const Finished different = diff("checkpoint_000001", "checkpoint_000002");
  EXPECT_EQ(different.exit_code, 1);
  EXPECT_NE(different.out.find("algorithm.json\n"), std::string::npos);
  EXPECT_NE(different.out.find("  iteration: 1 and 2\n"), std::string::npos) << different.out;
  EXPECT_NE(different.out.find("policies/default_policy.safetensors\n  q_table: "),
            std::string::npos);
  EXPECT_EQ(different.out.find("config"), std::string::npos);  // the same in both

  const Finished trouble = diff("checkpoint_000001", "checkpoint_000009");
  EXPECT_EQ(trouble.exit_code, 2);
  EXPECT_NE(trouble.err.find("checkpoint_000009: no such directory"), std::string::npos);
}

TEST(CheckpointTools, WordsThatAreNoneAreRefused) {
  const Scratch scratch;
  EXPECT_EQ(knurl({"checkpoint"}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"checkpoint", "list", "x"}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"checkpoint", "diff", "x"}, scratch.path()).exit_code, 2);
}

}  // namespace
}  // namespace knurl::e2e
