#include "knurl/core/tune/provenance.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "knurl/core/base/file.h"
#include "scratch.h"

namespace knurl::tune {
namespace {

namespace fs = std::filesystem;

const std::string kCommit = "0123456789abcdef0123456789abcdef01234567";

/// A directory below which files are laid out as git does.
class Provenance : public ::testing::Test {
 protected:
  [[nodiscard]] const fs::path& root() const { return scratch_.path(); }
  void put(const fs::path& file, const std::string& text) const {
    fs::create_directories((root() / file).parent_path());
    replace_text_file(root() / file, text);
  }

 private:
  Scratch scratch_;
};

TEST_F(Provenance, ABranchesCommitIsFoundFromBelow) {
  put(".git/HEAD", "ref: refs/heads/some/topic\n");
  put(".git/refs/heads/some/topic", kCommit + "\n");
  fs::create_directories(root() / "configs/ppo");
  EXPECT_EQ(git_commit_of(root() / "configs/ppo"), (GitCommit{root(), kCommit, "some/topic"}));
}

TEST_F(Provenance, APackedBranchsCommitIsFound) {
  put(".git/HEAD", "ref: refs/heads/main\n");
  put(".git/packed-refs", "# pack-refs with: peeled\n" + std::string(40, 'a') +
                              " refs/heads/main2\n" + kCommit + " refs/heads/main\n");
  EXPECT_EQ(git_commit_of(root()), (GitCommit{root(), kCommit, "main"}));
}

TEST_F(Provenance, ACommitWithoutABranchIsFound) {
  put(".git/HEAD", kCommit + "\n");
  EXPECT_EQ(git_commit_of(root()), (GitCommit{root(), kCommit, ""}));
}

TEST_F(Provenance, AWorktreesBranchIsFoundWhereItsRepositoryIs) {
  put("tree/.git", "gitdir: " + (root() / "main/.git/worktrees/tree").string() + "\n");
  put("main/.git/worktrees/tree/HEAD", "ref: refs/heads/topic\n");
  put("main/.git/worktrees/tree/commondir", "../..\n");
  put("main/.git/refs/heads/topic", kCommit + "\n");
  EXPECT_EQ(git_commit_of(root() / "tree"), (GitCommit{root() / "tree", kCommit, "topic"}));
}

TEST_F(Provenance, WhereThereIsNoCommitThereIsNone) {
  EXPECT_EQ(git_commit_of(root() / "nowhere"), std::nullopt);
  EXPECT_EQ(git_commit_of("/"), std::nullopt);
  put(".git/HEAD", "ref: refs/heads/unborn\n");
  EXPECT_EQ(git_commit_of(root()), std::nullopt);
  put(".git/HEAD", "nonsense\n");
  EXPECT_EQ(git_commit_of(root()), std::nullopt);
}

TEST(Machine, HasACpuAndASystem) {
  EXPECT_GE(this_machine().num_cpus, 1);
  EXPECT_TRUE(this_machine().system.starts_with("Linux ")) << this_machine().system;
  EXPECT_NE(compiler_version().find('.'), std::string::npos);
}

}  // namespace
}  // namespace knurl::tune
