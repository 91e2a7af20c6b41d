#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

Finished check_env(const Scratch& scratch, std::vector<std::string> more) {
  more.insert(more.begin(), "check-env");
  more.insert(more.end(), {"--plugin", std::string(KNURL_PLUGINS) + "/libbroken_envs.so"});
  return knurl(more, scratch.path());
}

/// The line about a rule.
std::string line_of(const std::string& rule, const std::string& output) {
  const std::size_t at = output.find("\n" + rule);
  return at == std::string::npos ? "" : output.substr(at + 1, output.find('\n', at + 1) - at - 1);
}

TEST(CheckEnv, SaysOfEachRuleWhetherItHolds) {
  const Scratch scratch;
  const Finished maze = check_env(scratch, {"Maze-v0", "--config", "random_goal: true"});
  EXPECT_EQ(maze.exit_code, 0) << maze.out;
  EXPECT_EQ(count(maze.out, " ok "), 12) << maze.out;
  EXPECT_NE(maze.out.find("Maze-v0: 3,000 random steps, seed 1\n"), std::string::npos);
  const Finished plain = check_env(scratch, {"Maze-v0", "--seed", "7", "--steps", "500"});
  EXPECT_EQ(count(plain.out, " ok "), 11) << plain.out;
  EXPECT_NE(line_of("seeds", plain.out).find("not tried"), std::string::npos)
      << "a maze without a random goal draws nothing";
  EXPECT_NE(plain.out.find("Maze-v0: 500 random steps, seed 7\n"), std::string::npos);
}

TEST(CheckEnv, ExplainsWhatIsBroken) {
  const Scratch scratch;
  const Finished finished = check_env(scratch, {"NotANumber-v0"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(line_of("reward", finished.out).find("BROKEN     rewards are finite"),
            std::string::npos);
  EXPECT_NE(line_of("observation", finished.out).find("BROKEN"), std::string::npos);
  EXPECT_NE(line_of("exceptions", finished.out).find(" ok "), std::string::npos);
  EXPECT_NE(finished.out.find("-1 is not in [0, 9]"), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("2 of 12 rules broken"), std::string::npos) << finished.out;
}

TEST(CheckEnv, SaysWhatItCouldNotTry) {
  const Scratch scratch;
  const Finished finished = check_env(scratch, {"Thrower-v0"});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_NE(line_of("exceptions", finished.out).find("BROKEN"), std::string::npos);
  EXPECT_NE(finished.out.find("the wheels came off"), std::string::npos);
  EXPECT_NE(line_of("saving", finished.out).find("not tried"), std::string::npos);
  EXPECT_NE(line_of("saving", finished.out).find("(mend exceptions first)"), std::string::npos);
  EXPECT_NE(line_of("reward", finished.out).find("not tried"), std::string::npos);
  const Finished short_walk = check_env(scratch, {"CartPole-v1", "--steps", "399"});
  EXPECT_EQ(short_walk.exit_code, 0);
  EXPECT_NE(line_of("seeds", short_walk.out).find("(needs at least 400 steps)"), std::string::npos)
      << short_walk.out;
}

TEST(CheckEnv, TakesItsConfigFromAFileAndRefusesWhatCannotBe) {
  const Scratch scratch;
  write_file(scratch.path() / "small.yaml", "rows: 2\ncolumns: 2\n");
  EXPECT_EQ(check_env(scratch, {"Maze-v0", "--config", "small.yaml"}).exit_code, 0);
  write_file(scratch.path() / "wrong.yaml", "rows: 2\ncolumns: 1\n");
  const Finished wrong = check_env(scratch, {"Maze-v0", "--config", "wrong.yaml"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("wrong.yaml:2: env_config.columns = 1: must be in [2, 1000]"),
            std::string::npos)
      << wrong.err;
  EXPECT_EQ(check_env(scratch, {"Maze-v0", "--config", "nowhere.yaml"}).exit_code, 2);
  EXPECT_EQ(check_env(scratch, {"Maze-v9"}).exit_code, 2);
  EXPECT_EQ(check_env(scratch, {"Maze-v0", "--steps", "0"}).exit_code, 2);
  EXPECT_EQ(check_env(scratch, {}).exit_code, 2);
}

}  // namespace
}  // namespace knurl::e2e
