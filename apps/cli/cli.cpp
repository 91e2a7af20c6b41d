#include "knurl/apps/cli/cli.h"

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <string_view>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/plugin.h"
#include "knurl/core/base/version.h"
#include "knurl/core/config/schema.h"
#include "knurl/core/config/value.h"

namespace knurl::cli {
namespace {

/// A command to begin with, and what it does.
struct FirstStep {
  std::string_view arguments;
  std::string_view does;
};
constexpr FirstStep kFirstSteps[] = {
    {"evaluate CHECKPOINT --episodes 10", "see what was learnt"},
    {"train configs/ppo/cartpole.yaml", "train what a file describes"},
    {"list envs", "what there is to learn"},
    {"config PPO", "every option with its default"},
    {"check-env Maze-v0", "try whether an env keeps its promises"},
    {"explain", "what runs report and can stop at"},
    {"checkpoint show CHECKPOINT", "what is in it"},
};

std::string footer() {
  std::size_t width = 0;
  for (const FirstStep& step : kFirstSteps) width = std::max(width, step.arguments.size());
  std::string out = fmt::format(
      "Start here:\n"
      "  {} train --run PPO --env CartPole-v1 --stop '{{timesteps_total: 100000}}'\n",
      own_command());
  for (const FirstStep& step : kFirstSteps) {
    out += fmt::format("  {} {:<{}}  {}\n", own_command(), step.arguments, width, step.does);
  }
  return out +
         "Exit codes: 0 done, 1 failed while running, 2 wrong command line or config,\n"
         "3 checkpoint damaged, foreign or not there; after a checkpoint: 129 terminal gone,\n"
         "130 Ctrl-C, 143 SIGTERM.";
}

/// An option whose value is a text that says something.
CLI::Option* add_text(CLI::App& command, const std::string& flags, std::string& target,
                      const std::string& help) {
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? std::string("must not be empty") : std::string();
  };
  return command.add_option(flags, target, help)->check(CLI::Validator(not_empty, ""));
}

/// An option whose value is a whole number from `least` on, small enough to be one.
template <class T>
CLI::Option* add_count(CLI::App& command, const std::string& flags, std::optional<T>& target,
                       std::int64_t least, const std::string& help) {
  const auto fits = [least](const std::string& text) {
    constexpr auto most = static_cast<std::int64_t>(std::numeric_limits<T>::max());
    const auto number = ConfigValue(ConfigValue::Scalar{text}).as_int();
    if (number && *number >= least && *number <= most) return std::string();
    return fmt::format("{}: must be a whole number in [{}, {}]", text, least, most);
  };
  return command.add_option(flags, target, help)->check(CLI::Validator(fits, ""));
}

/// One flag after the other, each with one value.
CLI::Option* add_repeated(CLI::App& command, const std::string& flag,
                          std::vector<std::string>& target, const std::string& help) {
  return command.add_option(flag, target, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

void add_set(CLI::App& command, std::vector<std::string>& target, const std::string& help) {
  add_repeated(command, "--set", target, help)->type_name("OPTION=VALUE");
}

/// What every command takes, and every command below it.
void add_plugins(CLI::App& command, std::vector<std::string>& target) {
  add_repeated(command, "--plugin", target,
               "shared library that brings environments, models or callbacks; may be repeated")
      ->type_name("LIBRARY");
  for (CLI::App* below : command.get_subcommands({})) add_plugins(*below, target);
}

void add_train(CLI::App& app, TrainArguments& a) {
  CLI::App* train =
      app.add_subcommand("train", "train what config files describe, or --run on --env");
  train->add_option("files", a.files,
                    "YAML files of experiments, run in turn (the word \"file\" "
                    "before them may stand as in RLlib)");
  train->add_option_function<std::vector<std::string>>(
      "-f,--file",
      [&a](const auto& more) { a.files.insert(a.files.end(), more.begin(), more.end()); },
      "a YAML file of experiments");
  add_text(*train, "-r,--run,-a,--algo", a.run,
           in_own_words("algorithm; `knurl list algorithms` shows them"));
  add_text(*train, "-e,--env", a.env, in_own_words("environment; `knurl list envs` shows them"));
  add_text(*train, "-c,--config", a.config, "options of the algorithm as JSON or YAML");
  add_text(*train, "-s,--stop", a.stop, "when to end, as JSON or YAML: {timesteps_total: 100000}");
  add_set(*train, a.set, "one option, lr=1e-3 or model.fcnet_hiddens=[64,64]; may be repeated");
  add_count(*train, "--seed", a.seed, 0, "seed of the run");
  train->add_flag("--deterministic", a.deterministic,
                  "promise that the seed makes the run; refuse what lets time or cores decide");
  add_count(*train, "--checkpoint-freq", a.checkpoint_freq, 0,
            "iterations from one checkpoint to the next; 0: none on the way");
  train->add_flag_callback(
      "--checkpoint-at-end", [&a] { a.checkpoint_at_end = true; },
      "write a checkpoint when the run ends (default)");
  train->add_flag_callback(
      "--no-checkpoint-at-end", [&a] { a.checkpoint_at_end = false; },
      "write none when the run ends");
  add_count(*train, "--keep-checkpoints,--keep-checkpoints-num", a.keep_checkpoints, 1,
            "keep so many checkpoints; never deletes the best or the last");
  add_text(*train, "--checkpoint-score-attr", a.checkpoint_score_attr,
           "metric that makes a checkpoint the best; min-METRIC for small ones");
  add_text(*train, "-o,--output,--local-dir", a.output, "where results go (default: results)");
  add_text(*train, "-n,--experiment-name", a.experiment_name,
           "name of the experiment's directory (with --run)");
  add_text(*train, "--resume", a.resume, "go on with a trial's directory, or a checkpoint in it");
  add_text(*train, "--init-from", a.init_from, "start with the weights of a checkpoint");
  train->add_flag("-q,--quiet", a.quiet, "say nothing but errors");
  train->add_flag("--json", a.json, "print each result as a line of JSON");
  train->add_flag("-v,--verbose", a.verbose, "say more of what is going on");
}

void add_evaluate(CLI::App& app, EvaluateArguments& a) {
  CLI::App* evaluate = app.add_subcommand("evaluate", "run a trained policy and show its returns");
  add_text(*evaluate, "checkpoint", a.checkpoint, "a checkpoint, or a trial's directory")
      ->required();
  add_text(*evaluate, "-a,--algo,-r,--run", a.algorithm, "algorithm (default: the checkpoint's)");
  add_text(*evaluate, "-e,--env", a.env, "environment (default: the checkpoint's)");
  add_text(*evaluate, "-c,--config", a.config, "options that differ, as JSON or YAML");
  add_set(*evaluate, a.set, "one option that differs, env_config.rows=7; may be repeated");
  CLI::Option* episodes =
      add_count(*evaluate, "--episodes", a.episodes, 1, "how many episodes (default: 10)");
  add_count(*evaluate, "--steps", a.steps, 1, "or how many env steps, exactly")->excludes(episodes);
  add_count(*evaluate, "--seed", a.seed, 0, "seed of the episodes (default: the run's)");
  evaluate->add_flag("--render", a.render, "show the environment as text");
  evaluate->add_flag("--explore", a.explore, "act as in training instead of the likeliest way");
  evaluate->add_flag("--json", a.json, "print each episode and the summary as lines of JSON");
}

void add_check_env(CLI::App& app, CheckEnvArguments& a) {
  CLI::App* command =
      app.add_subcommand("check-env", "try by random actions whether an env keeps its promises");
  add_text(*command, "env", a.env, "an environment such as Maze-v0")->required();
  add_text(*command, "-c,--config", a.config, "its env_config as JSON or YAML, or a file of that");
  add_count(*command, "--steps", a.steps, 1, "random steps of the longest walk (default: 3000)");
  add_count(*command, "--seed", a.seed, 0, "seed of episodes and actions (default: 1)");
}

void add_explain(CLI::App& app, ExplainArguments& a) {
  CLI::App* explain = app.add_subcommand("explain", "say what a metric means, or all of them");
  explain->add_option("metrics", a.metrics,
                      "names as results have them, or the last parts of such names");
  CLI::Option* markdown =
      explain->add_flag("--markdown", a.markdown, "print all as the page docs/metrics.md");
  markdown->excludes("metrics");
}

void add_checkpoint(CLI::App& app, CheckpointArguments& a) {
  CLI::App* checkpoint = app.add_subcommand("checkpoint", "look into checkpoints without training");
  checkpoint->require_subcommand(1);
  const auto add = [&](const char* name, const char* help) {
    CLI::App* command = checkpoint->add_subcommand(name, help);
    add_text(*command, "directory", a.path, "a checkpoint, or a trial's directory")->required();
    return command;
  };
  add("show", "what is in a checkpoint; of a trial, the newest");
  add("verify", "whether every file is as it was written; of a trial, all its checkpoints");
  CLI::App* diff = add("diff", "what two checkpoints differ in (exit code: 0 nothing, 1, 2 error)");
  add_text(*diff, "other", a.other, "the checkpoint to compare it with")->required();
}

int run_checkpoint(const CLI::App& app, const CheckpointArguments& arguments) {
  const CLI::App* checkpoint = app.get_subcommand("checkpoint");
  if (checkpoint->got_subcommand("show")) return show_checkpoint(arguments);
  if (checkpoint->got_subcommand("verify")) return verify_checkpoint(arguments);
  return diff_checkpoints(arguments);
}

int exit_code_of(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::config:
      return kUsage;
    case ErrorKind::checkpoint:
      return kBadCheckpoint;
    default:
      return kFailure;
  }
}

/// Throws Error(config) where the first word is none of the commands.
void check_command(const CLI::App& app, int argc, const char* const* argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  if (std::ranges::count(names, argv[1]) > 0) return;
  fail(ErrorKind::config, "{}: no such command{}", argv[1],
       did_you_mean(argv[1], names, fmt::format("; there are {}", fmt::join(names, ", "))));
}

/// The command that the command line got as far as: "checkpoint show" is below "checkpoint".
const CLI::App& reached(const CLI::App& app) {
  const CLI::App* at = &app;
  while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
  return *at;
}

/// What a command still needs: " (envs, wrappers, … or metrics)"; nothing where that is nothing.
std::string choices_of(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* below : command.get_subcommands({})) words.push_back(below->get_name());
  for (const CLI::Option* option : command.get_options({})) {
    if (option->get_required() && option->count() == 0) words.push_back(option->get_description());
  }
  return words.empty() ? "" : fmt::format(" ({})", fmt::join(words, ", "));
}

/// "checkpoint show ", the words from the program's name to a command.
std::string words_to(const CLI::App& command) {
  return command.get_parent() ? words_to(*command.get_parent()) + command.get_name() + " " : "";
}

/// Prints help where it was asked for, else what is wrong with the command line.
int report(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) {
    app.exit(error);
    return std::cout.flush() ? kSuccess : kFailure;
  }
  std::string text = error.what();
  if (app.got_subcommand("train") && dynamic_cast<const CLI::ExtrasError*>(&error)) {
    text += "; options of the algorithm are given as --set lr=1e-3";
  }
  const CLI::App& command = reached(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error)) text += choices_of(command);
  const std::string words = words_to(command);
  const std::string before = words.empty() ? "" : words.substr(0, words.size() - 1) + ": ";
  log(LogLevel::error, "{}{}; see {} {}--help", before, text, own_command(), words);
  return kUsage;
}

int dispatch(CLI::App& app, int argc, const char* const* argv) {
  TrainArguments train_arguments;
  EvaluateArguments evaluate_arguments;
  ListArguments list_arguments;
  ConfigArguments config_arguments;
  CheckpointArguments checkpoint_arguments;
  ExplainArguments explain_arguments;
  CheckEnvArguments check_env_arguments;
  std::vector<std::string> plugins;
  app.set_version_flag("--version", fmt::format("knurl {}", kVersion));
  app.require_subcommand(1);
  add_train(app, train_arguments);
  add_evaluate(app, evaluate_arguments);
  app.add_subcommand("list", "list environments, wrappers, models, algorithms or metrics")
      ->add_option("what", list_arguments.what, "envs, wrappers, models, algorithms or metrics")
      ->required()
      ->check(CLI::IsMember({"envs", "wrappers", "models", "algorithms", "metrics"}));
  app.add_subcommand(
         "config", "show every option of an algorithm, env or model, or what a file comes down to")
      ->add_option(
          "what", config_arguments.what,
          "an algorithm such as PPO, an env such as Maze-v0, a registered model, or a YAML file")
      ->required();
  add_explain(app, explain_arguments);
  add_checkpoint(app, checkpoint_arguments);
  add_check_env(app, check_env_arguments);
  add_plugins(app, plugins);
  app.footer(footer());  // now, so that the commands do not inherit it
  check_command(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report(app, error);
  }
  for (const std::string& plugin : plugins) load_plugin(expanded(plugin));
  if (app.got_subcommand("train")) return train(train_arguments);
  if (app.got_subcommand("evaluate")) return evaluate(evaluate_arguments);
  if (app.got_subcommand("explain")) return explain(explain_arguments);
  if (app.got_subcommand("list")) return list(list_arguments);
  if (app.got_subcommand("check-env")) return check_env_command(check_env_arguments);
  if (app.got_subcommand("checkpoint")) return run_checkpoint(app, checkpoint_arguments);
  return show_config(config_arguments);
}

}  // namespace

int run(int argc, const char* const* argv) {
  if (argc > 0) set_own_command(argv[0]);
  CLI::App app("knurl trains reinforcement-learning policies.", own_command());
  try {
    return dispatch(app, argc, argv);
  } catch (const Error& error) {
    log(LogLevel::error, "{}", in_own_words(error.what()));
    return exit_code_of(error);
  } catch (const std::bad_alloc&) {
    log(LogLevel::error, "out of memory: fewer environments, smaller batches or nets need less");
    return kFailure;
  } catch (const std::exception& error) {
    log(LogLevel::error, "{}", error.what());
    return kFailure;
  }
}

}  // namespace knurl::cli
