#include <algorithm>
#include <regex>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "maze_runs.h"

namespace knurl::e2e {
namespace {

namespace fs = std::filesystem;

TEST(Cli, VersionListAndConfigNeedNoTrial) {
  const Scratch scratch;
  EXPECT_TRUE(std::regex_match(knurl({"--version"}, scratch.path()).out,
                               std::regex("knurl \\d+\\.\\d+\\.\\d+\n")));
  const std::string envs = knurl({"list", "envs"}, scratch.path()).out;
  EXPECT_NE(envs.find("CartPole-v1"), std::string::npos);
  EXPECT_NE(envs.find("\n    also: Taxi-v3\n"), std::string::npos) << "an alias below its env";
  EXPECT_NE(knurl({"list", "wrappers"}, scratch.path()).out.find("FrameStack"), std::string::npos);
  EXPECT_EQ(knurl({"config", "Taxi-v3"}, scratch.path()).out,
            knurl({"config", "Taxi-v4"}, scratch.path()).out);
  EXPECT_NE(knurl({"list", "algorithms"}, scratch.path()).out.find("PPO"), std::string::npos);
  const Finished config = knurl({"config", "PPO"}, scratch.path());
  EXPECT_NE(config.out.find("clip_param = 0.3"), std::string::npos);
  EXPECT_NE(config.out.find("lambda = 1"), std::string::npos);
  EXPECT_NE(config.out.find("also: num_workers, num_env_runners"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(scratch.path()));
}

TEST(Cli, WrongCommandLinesAreRefused) {
  const Scratch scratch;
  EXPECT_EQ(knurl({}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"trian"}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"train", "--nope"}, scratch.path()).exit_code, 2);
}

TEST(Cli, MistakesInAConfigNameTheirPlaceAndLeaveNothingBehind) {
  const Scratch scratch;
  const auto refusal = [&](const std::string& yaml, std::vector<std::string> more = {}) {
    write_file(scratch.path() / "a.yaml", yaml);
    std::vector<std::string> arguments{"train", "a.yaml"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Finished finished = knurl(arguments, scratch.path());
    EXPECT_EQ(finished.exit_code, 2) << finished.out;
    EXPECT_FALSE(fs::exists(scratch.path() / "results"));
    return finished.err;
  };
  EXPECT_EQ(refusal("x:\n  run: PPO\n  env: CartPole-v1\n  config:\n    gama: 0.9\n"),
            "knurl: error: a.yaml:5: x.config.gama: unknown option; did you mean gamma?\n");
  EXPECT_EQ(refusal("x:\n  run: PPO\n  env: CartPole-v1\n  config:\n    gamma: 1.5\n"),
            "knurl: error: a.yaml:5: x.config.gamma = 1.5: must be in [0, 1]\n");
  EXPECT_EQ(refusal("x: {run: PPO, env: CartPole-v1, stop: {episode_reward_meen: 100}}"),
            "knurl: error: a.yaml:1: stop.episode_reward_meen: no such metric is reported; did "
            "you mean episode_reward_mean or episode_reward_min?\n");
  EXPECT_EQ(refusal("x: {run: PPO, env: CartPole-v2}"),
            "knurl: error: a.yaml:1: x.env: env CartPole-v2: unknown; did you mean CartPole-v1?\n");
  EXPECT_EQ(refusal("x: {run: PP, env: CartPole-v1}"),
            "knurl: error: a.yaml:1: x.run: algorithm PP: unknown; did you mean PPO?\n");
  EXPECT_EQ(
      refusal("x:\n  run: PPO\n  env: CartPole-v1\n  config:\n    callbacks: Lean\n    gama: 1\n"),
      "knurl: error: a.yaml:5: x.config: callbacks Lean: no class is registered under this name\n"
      "a.yaml:6: x.config.gama: unknown option; did you mean gamma?\n");
  EXPECT_NE(refusal("x: {run: QLearning, env: Maze-v0, config: {env_config: {row: 7}}}")
                .find("a.yaml:1: env_config.row: unknown option; did you mean rows?"),
            std::string::npos);
  EXPECT_NE(refusal("x: {run: PPO, env: CartPole-v1, checkpoint_frq: 1}")
                .find("x.checkpoint_frq: unknown option; did you mean"),
            std::string::npos);
  EXPECT_NE(refusal("").find("a.yaml: is empty"), std::string::npos);
  EXPECT_NE(refusal("[1, 2]").find("must hold experiments"), std::string::npos);
  EXPECT_NE(refusal("x: 3").find("must be an experiment"), std::string::npos);
  EXPECT_NE(refusal("x: {env: CartPole-v1}").find("x.run: the algorithm is missing"),
            std::string::npos);
  EXPECT_NE(refusal("x: {run: QLearning, env: CartPole-v1}").find("a table needs a finite one"),
            std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--set", "gama=1"}).find("--set gama=1: config.gama: unknown option"),
            std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--set", "gamma"}).find("must be option=value"), std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--stop", "{timesteps: 10}"}).find("no such metric"),
            std::string::npos);
  EXPECT_NE(refusal(kMaze, {"--checkpoint-score-attr", "loss"}).find("no such metric"),
            std::string::npos);
  EXPECT_EQ(knurl({"train", "no such file.yaml"}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"train", "."}, scratch.path()).exit_code, 2);
  EXPECT_EQ(knurl({"train"}, scratch.path()).exit_code, 2);
}

TEST(Cli, ARunLeavesWhatRllibsUsersExpect) {
  const Scratch scratch;
  const fs::path trial = train_maze(scratch, {"--checkpoint-freq", "2"});
  EXPECT_TRUE(trial.filename().string().starts_with("QLearning_Maze-v0_"));
  EXPECT_EQ(trial.parent_path().filename(), "maze");
  const auto params = nlohmann::json::parse(read_file(trial / "params.json"));
  EXPECT_EQ(params["gamma"], 0.9);
  EXPECT_EQ(params["rollout_fragment_length"], 10);

  const auto results = json_lines(read_file(trial / "result.json"));
  ASSERT_EQ(results.size(), 5U);
  EXPECT_EQ(results[4]["training_iteration"], 5);
  EXPECT_EQ(results[4]["timesteps_total"], 5000);
  EXPECT_EQ(results[4]["done"], true);
  EXPECT_EQ(results[3]["done"], false);
  EXPECT_TRUE(results[4]["info"]["learner"]["default_policy"]["learner_stats"].contains("max_q"));

  const std::string csv = read_file(trial / "progress.csv");
  EXPECT_EQ(count(csv, "\n"), 6);
  EXPECT_NE(csv.find("info/learner/default_policy/learner_stats/max_q"), std::string::npos);
  for (const char* name : {"checkpoint_000002", "checkpoint_000004", "checkpoint_000005"}) {
    EXPECT_TRUE(fs::exists(trial / name / "manifest.json")) << name;
  }
  EXPECT_FALSE(fs::exists(trial / "checkpoint_000001"));
}

TEST(Cli, RllibsWordsWork) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished file =
      knurl({"train", "file", "maze.yaml", "--stop", R"({"timesteps_total": 2000})", "--json"},
            scratch.path());
  EXPECT_EQ(file.exit_code, 0) << file.err;
  EXPECT_EQ(json_lines(file.out).back()["timesteps_total"], 2000);
  const Finished flags = knurl({"train", "--run", "QLearning", "--env", "Maze-v0", "-s",
                                "{training_iteration: 3}", "--seed", "7", "--json", "-n", "named"},
                               scratch.path());
  EXPECT_EQ(flags.exit_code, 0) << flags.err;
  EXPECT_EQ(json_lines(flags.out).size(), 3U);
  EXPECT_TRUE(fs::exists(scratch.path() / "results" / "named"));
}

TEST(Cli, AFileMayBeGivenAsAFlag) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  for (const char* flag : {"-f", "--file"}) {
    const Finished finished = knurl({"train", flag, "maze.yaml", "--json"}, scratch.path());
    EXPECT_EQ(json_lines(finished.out).size(), 5U) << finished.err;
  }
}

TEST(Cli, StopKeysOfBothVocabulariesEndARun) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  for (const char* stop :
       {"{env_runners/episode_return_mean: 0.5}", "{sampler_results: {episode_reward_mean: 0.5}}",
        "{num_env_steps_sampled_lifetime: 1000}", "{episodes_total: 1}"}) {
    const Finished finished =
        knurl({"train", "maze.yaml", "--stop", stop, "--json"}, scratch.path());
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    EXPECT_LT(json_lines(finished.out).size(), 5U) << stop;
  }
}

TEST(Cli, SeveralExperimentsRunInTurn) {
  const Scratch scratch;
  write_file(scratch.path() / "two.yaml",
             "one: {run: QLearning, env: Maze-v0, stop: {training_iteration: 1}}\n"
             "two: {run: QLearning, env: Maze-v0, stop: {training_iteration: 2}}\n");
  const Finished finished = knurl({"train", "two.yaml", "--json"}, scratch.path());
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
  EXPECT_EQ(json_lines(finished.out).size(), 3U);
  EXPECT_TRUE(fs::exists(scratch.path() / "results" / "one"));
  EXPECT_TRUE(fs::exists(scratch.path() / "results" / "two"));
}

TEST(Cli, PipedOutputIsPlainLinesAndEndsWithTheNextCommand) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished = knurl({"train", "maze.yaml"}, scratch.path());
  EXPECT_EQ(finished.out.find('\r'), std::string::npos);
  EXPECT_EQ(finished.out.find('\033'), std::string::npos);
  EXPECT_EQ(count(finished.out, "iter "), 5);
  EXPECT_TRUE(std::ranges::all_of(finished.out, [](char c) { return c > 0; })) << finished.out;
  EXPECT_TRUE(std::regex_search(finished.out,
                                std::regex("\ntime: ([a-z]+ [1-9]\\d*%, )*[a-z]+ [1-9]\\d*%\n")))
      << finished.out;
  EXPECT_TRUE(std::regex_search(
      finished.out, std::regex("\nended: timesteps_total 5000 >= 5000\n"
                               "5,000 steps in [0-9:.e-]+( s)?, [0-9,.]+/s, return -?[0-9.e-]+\n")))
      << finished.out;
  EXPECT_NE(finished.out.find(", 1 env in the driver, seed "), std::string::npos) << finished.out;
  EXPECT_NE(finished.out.find("/checkpoint_000005 (the last and the best)\n"), std::string::npos)
      << finished.out;
  std::smatch match;
  const std::regex command("evaluate it:     \\S*knurl evaluate (\\S+)\n");
  ASSERT_TRUE(std::regex_search(finished.out, match, command)) << finished.out;
  const Finished evaluated = knurl({"evaluate", match[1].str()}, scratch.path());
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.err;
  EXPECT_EQ(count(evaluated.out, "Episode #"), 10);
}

TEST(Cli, HowFarAMetricIsFromItsStopIsShown) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const std::string whole =
      knurl({"train", "maze.yaml", "--stop",
             "{env_runners/episode_return_mean: 1e3, learners/default_policy/qf_max: 9}"},
            scratch.path())
          .out;
  EXPECT_TRUE(std::regex_search(whole, std::regex("iter 5 .* \\| return -?[0-9.]+ of 1000 \\(")))
      << whole;
  EXPECT_TRUE(
      std::regex_search(whole, std::regex(" \\| learners/default_policy/qf_max [0-9.e-]+ of 9")))
      << whole;
}

TEST(Cli, QuietSaysNothing) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished = knurl({"train", "maze.yaml", "-q"}, scratch.path());
  EXPECT_EQ(finished.out, "");
  EXPECT_EQ(finished.err, "");
}

TEST(Cli, OptionsWithoutEffectAreNamedOnce) {
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml",
             "x: {run: QLearning, env: Maze-v0, stop: {training_iteration: 3},\n"
             "    config: {framework: torch, _enable_new_api_stack: true}}\n");
  const Finished finished = knurl({"train", "a.yaml"}, scratch.path());
  EXPECT_EQ(count(finished.out,
                  "without effect here: framework (knurl learns with kernels of its own or with "
                  "LibTorch: learner_backend says which), "
                  "_enable_new_api_stack (knurl has one API)"),
            1)
      << finished.out;
}

TEST(Cli, AnOvershotStopIsSaid) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const Finished finished =
      knurl({"train", "maze.yaml", "--stop", "{timesteps_total: 10}"}, scratch.path());
  EXPECT_NE(finished.err.find("a whole iteration was trained, 1000 in all"), std::string::npos);
}

TEST(Cli, AFileShowsAllItsMistakesAtOnce) {
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml",
             "one:\n"
             "  run: PPO\n"
             "  env: CartPole-v1\n"
             "  gamma: 0.9\n"
             "  scheduler: ASHA\n"
             "two:\n"
             "  run: PPO\n"
             "  envs: CartPole-v1\n");
  EXPECT_EQ(knurl({"train", "a.yaml"}, scratch.path()).err,
            "knurl: error: a.yaml:4: one.gamma: is an option of the algorithm: write it below "
            "config\n"
            "a.yaml:5: one.scheduler = ASHA: schedulers of trials are not available yet\n"
            "a.yaml:8: two.envs: unknown option; did you mean env?\n");
  write_file(scratch.path() / "b.yaml",
             "one:\n"
             "  run: PPO\n"
             "  env: CartPole-v1\n"
             "  config:\n"
             "    sample_async: true\n"
             "    gama: 0.9\n"
             "    lr: fast\n"
             "    batch_size: 64\n"
             "    model: {use_attention: true}\n"
             "    checkpoint_freq: 3\n"
             "two: {run: SAC, env: CartPole-v1}\n"
             "three: {run: PPO, env: Breakout-v5}\n");
  EXPECT_EQ(knurl({"train", "b.yaml"}, scratch.path()).err,
            "knurl: error: b.yaml:5: one.config.sample_async = true: not available yet\n"
            "b.yaml:6: one.config.gama: unknown option; did you mean gamma?\n"
            "b.yaml:7: one.config.lr = fast: must be a number at least 0\n"
            "b.yaml:8: one.config.batch_size = 64: is sgd_minibatch_size here\n"
            "b.yaml:9: one.config.model.use_attention = true: not available yet\n"
            "b.yaml:10: one.config.checkpoint_freq: is no option of the algorithm: write it beside "
            "config\n"
            "b.yaml:11: two.run: algorithm SAC: not available yet; there are DQN, PPO, "
            "QLearning, SimpleQ\n"
            "b.yaml:12: three.env: env Breakout-v5: unknown; `" +
                knurl_binary() + " list envs` shows what there is\n");
}

TEST(Cli, EveryExperimentIsCheckedBeforeTheFirstTrains) {
  const Scratch scratch;
  for (const char* second : {"two: {run: QLearning, env: CartPole-v1}",
                             "two: {run: PPO, env: Maze-v0, config: "
                             "{train_batch_size: 64}}",
                             "two: {run: QLearning, env: Maze-v0, config: {env_config: {rows: 0}}}",
                             "two: {run: QLearning, env: Maze-v0, stop: {info/learner/kl: 1}}"}) {
    write_file(
        scratch.path() / "two.yaml",
        fmt::format("one: {{run: QLearning, env: Maze-v0, stop: {{training_iteration: 1}}}}\n"
                    "{}\n",
                    second));
    const Finished finished = knurl({"train", "two.yaml"}, scratch.path());
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_NE(finished.err.find("two: "), std::string::npos) << finished.err;
    EXPECT_FALSE(fs::exists(scratch.path() / "results")) << second;
  }
}

TEST(Cli, OptionsThatSayNothingAreRefused) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  for (const char* option : {"--resume", "--init-from", "--output", "--env", "--stop", "--config",
                             "--checkpoint-score-attr"}) {
    EXPECT_EQ(knurl({"train", "maze.yaml", option, ""}, scratch.path()).exit_code, 2) << option;
  }
  for (const char* seed : {"-1", "1.5", "99999999999999999999", "one"}) {
    const Finished finished = knurl({"train", "maze.yaml", "--seed", seed}, scratch.path());
    EXPECT_EQ(finished.exit_code, 2) << seed;
    EXPECT_NE(finished.err.find("--seed"), std::string::npos) << finished.err;
  }
  EXPECT_EQ(knurl({"train", "maze.yaml", "-n", "name"}, scratch.path()).exit_code, 2);
  EXPECT_FALSE(fs::exists(scratch.path() / "results"));
}

TEST(Cli, StopsAtAnyMetricThatIsReportedAndNoOther) {
  const Scratch scratch;
  const auto train = [&](const std::string& stop, const std::string& more) {
    return knurl({"train", "--run", "QLearning", "--env", "Maze-v0", "--json", "--stop", stop,
                  "--set", "min_sample_timesteps_per_iteration=1000", "--set", more},
                 scratch.path());
  };
  for (const char* stop : {"{learners/default_policy/qf_max: 0.5}", "{timers/learn_time_ms: 0}",
                           "{info: {learner: {default_policy: {learner_stats: {max_q: 0.5}}}}}",
                           "{custom_metrics/success_mean: 0.1}"}) {
    const Finished finished = train(stop, "gamma=0.9");
    EXPECT_EQ(finished.exit_code, 0) << stop << finished.err;
  }
  const std::string evaluation = "{evaluation/sampler_results/episode_reward_mean: 1}";
  EXPECT_EQ(train(evaluation, "evaluation_interval=1").exit_code, 0);
  EXPECT_NE(
      train(evaluation, "gamma=0.9").err.find("nothing is evaluated; set evaluation_interval"),
      std::string::npos);
  EXPECT_NE(train("{hist_stats/episode_reward: 1}", "gamma=0.9").err.find("is a list"),
            std::string::npos);
  EXPECT_NE(train("{learners/default_policy/kl: 1}", "gamma=0.9").err.find("no such metric"),
            std::string::npos);
}

TEST(Cli, MetricsAndEnvOptionsCanBeLookedUp) {
  const Scratch scratch;
  const std::string metrics = knurl({"list", "metrics"}, scratch.path()).out;
  EXPECT_NE(metrics.find("env_runners/episode_return_mean"), std::string::npos);
  EXPECT_NE(metrics.find("learner_stats/vf_explained_var"), std::string::npos);
  EXPECT_NE(metrics.find("learner_stats/mean_td_error"), std::string::npos);
  const std::string maze = knurl({"config", "Maze-v0"}, scratch.path()).out;
  EXPECT_NE(maze.find("random_goal = false"), std::string::npos);
  EXPECT_NE(maze.find("max_episode_steps = null"), std::string::npos);
}

TEST(Cli, WordsThatAreNoneLeadToTheRightOnes) {
  const Scratch scratch;
  write_file(scratch.path() / "maze.yaml", kMaze);
  const auto error = [&](std::vector<std::string> arguments) {
    const Finished finished = knurl(std::move(arguments), scratch.path());
    EXPECT_EQ(finished.exit_code, 2);
    return finished.err;
  };
  EXPECT_EQ(error({"trian", "maze.yaml"}),
            "knurl: error: trian: no such command; did you mean train?\n");
  EXPECT_EQ(error({"config", "CartPole-v2"}),
            "knurl: error: CartPole-v2: no algorithm, environment or file; did you mean "
            "CartPole-v1?\n");
  EXPECT_EQ(error({"train", "PPO"}), "knurl: error: PPO: no such file; did you mean --run PPO?\n");
  EXPECT_EQ(error({"train", "maze.yaml", "--set", "gamma=0.8", "lr=0.1"}),
            "knurl: error: lr=0.1: no such file; options are given as --set lr=0.1\n");
  EXPECT_NE(error({"train", "maze.yaml", "--lr", "0.1"}).find("given as --set"), std::string::npos);
  write_file(scratch.path() / "nameless.yaml", "run: PPO\nenv: CartPole-v1\n");
  EXPECT_EQ(
      error({"train", "nameless.yaml"}),
      "knurl: error: nameless.yaml:1: run: the file holds an experiment without a name; write "
      "one above it, as my-name:, and indent the rest\n");
}

TEST(Cli, SmallScoresAreGoodInFilesToo) {
  const Scratch scratch;
  write_file(scratch.path() / "a.yaml",
             "x: {run: QLearning, env: Maze-v0, checkpoint_score_attr: min-episode_len_mean,\n"
             "    stop: {training_iteration: 1}}\n");
  const Finished config = knurl({"config", "a.yaml"}, scratch.path());
  EXPECT_EQ(config.exit_code, 0) << config.err;
  EXPECT_NE(config.out.find("checkpoint_score_order: min"), std::string::npos);
  EXPECT_EQ(knurl({"train", "a.yaml", "-q"}, scratch.path()).exit_code, 0);
}

}  // namespace
}  // namespace knurl::e2e
