#include <gtest/gtest.h>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

/// A plug-in that the build made of tests/e2e/plugins.
std::string plugin(const std::string& name) {
  return fs::path(KNURL_PLUGINS) / ("lib" + name + ".so");
}

/// Trains a corridor for an iteration; `more` has the plug-in.
Finished train_corridor(const Scratch& scratch, const std::vector<std::string>& more) {
  std::vector<std::string> arguments{
      "train",
      "--run",
      "PPO",
      "--env",
      "Corridor-v0",
      "--stop",
      "{training_iteration: 1}",
      "--config",
      "{train_batch_size: 64, sgd_minibatch_size: 64, num_sgd_iter: 1, env_config: {length: 2}}"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return knurl(arguments, scratch.path());
}

TEST(Plugin, BringsItsEnvsToEveryCommand) {
  const Scratch scratch;
  const std::vector<std::string> corridor{"--plugin", plugin("corridor")};
  const auto output = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), corridor.begin(), corridor.end());
    const Finished finished = knurl(arguments, scratch.path());
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    return finished.out;
  };
  EXPECT_NE(output({"list", "envs"}).find("walk right to the exit of a corridor\n"),
            std::string::npos);
  EXPECT_NE(output({"config", "Corridor-v0"}).find("length = 5"), std::string::npos);
  EXPECT_NE(output({"check-env", "Corridor-v0"}).find("no rule is broken"), std::string::npos);
  EXPECT_EQ(train_corridor(scratch, {}).exit_code, 2) << "the env is the plug-in's";
  const Finished trained = train_corridor(scratch, corridor);
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  EXPECT_NE(trained.out.find("/checkpoint_000001 --plugin " + corridor[1] + "\n"),
            std::string::npos)
      << "the command to go on with has the plug-in: " << trained.out;
}

TEST(Plugin, IsTakenAtEveryLevelOfCommands) {
  const Scratch scratch;
  const std::string checkpoint = train_maze(scratch).string();
  const std::string corridor = plugin("corridor");
  EXPECT_EQ(
      knurl({"checkpoint", "show", checkpoint, "--plugin", corridor}, scratch.path()).exit_code, 0);
  EXPECT_EQ(
      knurl({"checkpoint", "--plugin", corridor, "verify", checkpoint}, scratch.path()).exit_code,
      0);
  const Finished list = knurl({"--plugin", corridor, "list", "envs"}, scratch.path());
  EXPECT_EQ(count(list.out, "Corridor-v0"), 1) << list.err;
}

TEST(Plugin, MayBeGivenMoreThanOnceAndBeforeOtherArguments) {
  const Scratch scratch;
  const Finished list = knurl({"list", "--plugin", plugin("corridor"), "--plugin",
                               plugin("broken_envs"), "--plugin", plugin("corridor"), "envs"},
                              scratch.path());
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(count(list.out, "Corridor-v0"), 1);
  EXPECT_EQ(count(list.out, "Thrower-v0"), 1);
}

TEST(Plugin, IsRefusedWithTheReason) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& path) {
    const Finished finished = knurl({"list", "envs", "--plugin", path}, scratch.path());
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    EXPECT_EQ(finished.out, "");
    const std::string start = "knurl: error: plug-in " + path + ": ";
    EXPECT_TRUE(finished.err.starts_with(start)) << finished.err;
    return finished.err.substr(std::min(start.size(), finished.err.size()));
  };
  write_file(scratch.path() / "text.so", "not a library");
  EXPECT_EQ(refusal("nowhere.so"), "no such file\n");
  EXPECT_EQ(refusal("."), "is no file\n");
  EXPECT_TRUE(refusal("text.so").starts_with("cannot be opened as a shared library: "));
  EXPECT_TRUE(refusal(plugin("no_plugin")).starts_with("is a library, but no plug-in of knurl: "));
  EXPECT_EQ(refusal(plugin("registers_nothing")),
            "registers nothing: knurl_plugin() gives no register_all\n");
  EXPECT_TRUE(refusal(plugin("other_version")).starts_with("was built with knurl 0.0.9, this is "));
  EXPECT_NE(refusal(plugin("other_layouts")).find("_GLIBCXX_USE_CXX11_ABI=0"), std::string::npos);
  EXPECT_EQ(refusal(plugin("taken_name")), "the env name CartPole-v1 is taken\n");
}

TEST(Plugin, IsRecordedAndOpenedAgainByResume) {
  const Scratch scratch;
  const fs::path library = scratch.path() / "libcorridor.so";
  const fs::path moved = scratch.path() / "elsewhere.so";
  fs::copy_file(plugin("corridor"), library);
  EXPECT_EQ(train_corridor(scratch, {"--plugin", "libcorridor.so"}).exit_code, 0);
  const fs::path trial = only_trial(scratch.path() / "results");
  const auto recorded = [&] {
    return nlohmann::json::parse(read_file(trial / "experiment.json"))["plugins"];
  };
  EXPECT_EQ(recorded(), nlohmann::json{fs::canonical(library).string()});

  const auto resume = [&](int iterations, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"train", "--resume", trial.string(), "--stop",
                                       "{training_iteration: " + std::to_string(iterations) + "}"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return knurl(arguments, scratch.path());
  };
  const Finished second = resume(2, {});
  EXPECT_EQ(second.exit_code, 0) << second.err;
  fs::rename(library, moved);
  const Finished missing = resume(3, {});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find("was trained with the plug-in " + library.string() +
                             ", which is not there any more: say where it is with --plugin"),
            std::string::npos)
      << missing.err;
  const Finished third = resume(3, {"--plugin", "elsewhere.so"});
  EXPECT_EQ(third.exit_code, 0) << third.err;
  EXPECT_EQ(recorded(), nlohmann::json{fs::canonical(moved).string()});
}

TEST(Plugin, IsAskedForByEvaluateWhichOpensNothingUnasked) {
  const Scratch scratch;
  const std::string library = plugin("corridor");
  EXPECT_EQ(train_corridor(scratch, {"--plugin", library}).exit_code, 0);
  const std::string trial = only_trial(scratch.path() / "results");
  const Finished without = knurl({"evaluate", trial, "--episodes", "1"}, scratch.path());
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_EQ(
      without.err,
      "knurl: error: env Corridor-v0: unknown; its run had it from a plug-in: give --plugin " +
          library + "\n");
  const Finished with =
      knurl({"evaluate", trial, "--episodes", "1", "--plugin", library}, scratch.path());
  EXPECT_EQ(with.exit_code, 0) << with.err;
}

}  // namespace
}  // namespace knurl::e2e
