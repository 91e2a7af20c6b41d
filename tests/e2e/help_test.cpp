#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

const std::vector<std::string> kAsDev{"KNURL_COMMAND=./dev"};

/// What a wrong command line is told, called as ./dev.
std::string told(const std::vector<std::string>& arguments) {
  const Scratch scratch;
  const Finished finished = knurl(arguments, scratch.path(), kAsDev);
  EXPECT_EQ(finished.exit_code, 2) << finished.out;
  return finished.err;
}

TEST(Help, LeadsANewcomer) {
  const Scratch scratch;
  const Finished help = knurl({"--help"}, scratch.path(), kAsDev);
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_NE(help.out.find("Start here:\n  ./dev train --run PPO --env CartPole-v1"),
            std::string::npos)
      << "what needs no file comes first: " << help.out;
  EXPECT_NE(help.out.find("./dev train configs/ppo/cartpole.yaml    train what a file describes"),
            std::string::npos)
      << help.out;
  const std::string train = knurl({"train", "--help"}, scratch.path(), kAsDev).out;
  EXPECT_NE(train.find("--resume"), std::string::npos);
  EXPECT_NE(train.find("`./dev list envs`"), std::string::npos) << train;
  EXPECT_EQ(train.find("Start here"), std::string::npos) << "stands at the top level alone";
}

TEST(Help, ColumnsOfTheFirstStepsFitLongNames) {
  const Scratch scratch;
  const std::string out =
      knurl({"--help"}, scratch.path(), {"KNURL_COMMAND=/home/me/programs/of/mine/own_env"}).out;
  std::size_t column = 0;
  for (const char* does : {"see what was learnt", "every option with its default"}) {
    const std::size_t at = out.find(does);
    ASSERT_NE(at, std::string::npos) << out;
    const std::size_t here = at - out.rfind('\n', at);
    EXPECT_TRUE(column == 0 || here == column) << out;
    column = here;
  }
}

TEST(Help, OfTheCommandThatWasMeantAndWhatItTakesIsNamed) {
  EXPECT_EQ(told({"list"}),
            "knurl: error: list: what is required (envs, wrappers, models, algorithms or metrics); "
            "see ./dev list --help\n");
  EXPECT_NE(told({"config"}).find("config: what is required (an algorithm such as PPO"),
            std::string::npos);
  EXPECT_EQ(told({"checkpoint"}),
            "knurl: error: checkpoint: A subcommand is required (show, verify, diff); see ./dev "
            "checkpoint --help\n");
  EXPECT_NE(told({"checkpoint", "show"}).find("; see ./dev checkpoint show --help\n"),
            std::string::npos);
  EXPECT_NE(told({"train", "--nope"}).find("; see ./dev train --help\n"), std::string::npos);
  EXPECT_NE(told({}).find("(train, evaluate, list, "), std::string::npos);
}

TEST(Help, ErrorsNameCommandsAsTheProgramWasCalled) {
  EXPECT_NE(told({"train", "--run", "PPO", "--env", "Breakout"}).find("`./dev list envs`"),
            std::string::npos);
  EXPECT_NE(told({"train", "--run", "PPO"}).find("`./dev list envs`"), std::string::npos);
  EXPECT_NE(told({"explain", "xyz"}).find("`./dev explain`"), std::string::npos);
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml", "x: {run: PPO, env: CartPole-v1, resume: true}\n");
  EXPECT_NE(knurl({"train", "a.yaml"}, scratch.path(), kAsDev).err.find("`./dev train --resume"),
            std::string::npos);
}

}  // namespace
}  // namespace knurl::e2e
