#include <csignal>
#include <cstdio>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/planned_trial.h"
#include "knurl/apps/cli/trial_record.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/log.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/metrics/sinks.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

/// Stop conditions, checkpoint options and overrides that the command line gives on top.
void apply_arguments(const TrainArguments& arguments, PlannedTrial& trial) {
  if (!arguments.stop.empty()) {
    trial.stop.update(tune::StopConditions::from(parse_yaml(arguments.stop, "--stop"), "stop"));
  }
  if (!arguments.config.empty()) {
    trial.config->update(parse_yaml(arguments.config, "--config"), "config");
  }
  trial.config->update(overrides_of(arguments.set), "config");
  if (!arguments.env.empty())
    trial.config->update(overrides_of({"env=" + arguments.env}), "config");
  if (arguments.seed) {
    trial.config->update(overrides_of({fmt::format("seed={}", *arguments.seed)}), "config");
  }
  tune::CheckpointOptions& checkpoints = trial.checkpoints;
  if (arguments.checkpoint_freq) checkpoints.checkpoint_frequency = *arguments.checkpoint_freq;
  if (arguments.checkpoint_at_end) checkpoints.checkpoint_at_end = *arguments.checkpoint_at_end;
  if (arguments.keep_checkpoints) checkpoints.num_to_keep = arguments.keep_checkpoints;
  if (!arguments.checkpoint_score_attr.empty()) {
    checkpoints.checkpoint_score_attribute = arguments.checkpoint_score_attr;
  }
  // "min-loss": small is good, as Tune writes it
  if (const std::string& score = *checkpoints.checkpoint_score_attribute;
      score.starts_with("min-")) {
    checkpoints.checkpoint_score_order = tune::ScoreOrder::min;
    checkpoints.checkpoint_score_attribute = score.substr(4);
  }
  if (!arguments.output.empty()) trial.local_dir = arguments.output;
}

/// Everything that can be wrong with a run is found before anything is written.
void check_trial(const PlannedTrial& trial) {
  const MetricNames metrics = common_metrics();
  trial.stop.check(metrics);
  const std::string& score = *trial.checkpoints.checkpoint_score_attribute;
  if (!metrics.find(score)) {
    fail(ErrorKind::config, "checkpoint_score_attribute = {}: no such metric is reported{}", score,
         did_you_mean(score, metrics.all()));
  }
  schema_of<tune::CheckpointOptions>().check(&trial.checkpoints, "checkpoint_config");
}

std::vector<PlannedTrial> trials_of(const TrainArguments& arguments) {
  std::vector<PlannedTrial> trials;
  std::vector<std::string> files = arguments.files;
  if (!files.empty() && files.front() == "file") files.erase(files.begin());  // as RLlib has it
  for (const std::string& file : files) {
    for (PlannedTrial& trial : trials_of_file(file)) trials.push_back(std::move(trial));
  }
  if (!files.empty() && !arguments.run.empty()) {
    fail(ErrorKind::config, "--run {} and a config file: give one of them", arguments.run);
  }
  if (files.empty()) {
    if (arguments.run.empty()) {
      fail(ErrorKind::config, "train what? give a config file, or --run and --env");
    }
    trials.push_back(
        {.name = arguments.experiment_name.empty() ? "default" : arguments.experiment_name,
         .config = make_config(arguments.run),
         .stop = {},
         .checkpoints = {}});
  }
  for (PlannedTrial& trial : trials) {
    apply_arguments(arguments, trial);
    check_trial(trial);
  }
  return trials;
}

void announce(const PlannedTrial& trial, const AlgorithmConfig& config, const fs::path& directory) {
  const CommonOptions& options = config.common();
  fmt::print("{}: {} on {}, {} x {} envs, seed {} -> {}\n", trial.name, config.algorithm(),
             *options.environment.env, std::max(1, options.rollouts.num_rollout_workers.value()),
             options.rollouts.num_envs_per_worker.value(), options.debugging.seed->value_or(0),
             directory.string());
  if (!trial.config->notes().empty()) {
    fmt::print("without effect here: {}\n", fmt::join(trial.config->notes(), ", "));
  }
  if (trial.stop.empty()) fmt::print("no stop condition: Ctrl-C ends the run with a checkpoint\n");
  std::fflush(stdout);  // now, also when nobody is at a terminal
}

void warn_of_overshoot(const tune::TrialOutcome& outcome, const tune::StopConditions& stop) {
  for (const auto& condition : stop.conditions()) {
    const std::string name = common_metrics().canonical(condition.metric);
    const auto total = outcome.last.number(name);
    const bool counts_steps = name == "timesteps_total" || name == "num_env_steps_sampled";
    if (!counts_steps || !total || *total <= 1.1 * condition.bound) continue;
    log(LogLevel::warning, "stop at {} {:.10g}: a whole iteration was trained, {:.10g} in all",
        condition.metric, condition.bound, *total);
  }
}

void report_end(const tune::TrialOutcome& outcome) {
  fmt::print("ended: {}\n", outcome.reason);
  if (!outcome.last_checkpoint) return;
  fmt::print("last checkpoint: {}\n", outcome.last_checkpoint->string());
  if (outcome.best_checkpoint) {
    fmt::print("best checkpoint: {}\n", outcome.best_checkpoint->string());
    fmt::print("evaluate it:     knurl evaluate {}\n",
               shell_quoted(outcome.best_checkpoint->string()));
  }
}

/// Trains one run that has its directory.
tune::TrialOutcome run_in(const fs::path& directory, const PlannedTrial& trial,
                          Algorithm& algorithm, const TrainArguments& arguments,
                          tune::Interrupt& interrupt) {
  const Output output = output_for(arguments.quiet, arguments.json);
  const bool talk = output == Output::live || output == Output::lines;
  if (talk) announce(trial, algorithm.config(), directory);
  tune::TrialOutcome outcome;
  {
    Console console(output, trial.stop, algorithm.metric_names());
    outcome = tune::run_trial(
        algorithm, {.directory = directory, .stop = trial.stop, .checkpoints = trial.checkpoints},
        &interrupt, console);
  }
  warn_of_overshoot(outcome, trial.stop);
  if (talk) report_end(outcome);
  return outcome;
}

tune::TrialOutcome start(const PlannedTrial& trial, const TrainArguments& arguments,
                         tune::Interrupt& interrupt) {
  const auto algorithm = trial.config->build();
  if (!arguments.init_from.empty()) {
    const CheckpointData from = tune::find_checkpoint(arguments.init_from).state;
    const Weights weights = weights_of(from);
    if (weights.tensors.columns() !=
        algorithm->get_weights().at("default_policy").tensors.columns()) {
      fail(ErrorKind::checkpoint, "--init-from {}: the weights are those of another net",
           arguments.init_from);
    }
    algorithm->set_weights({{"default_policy", weights}});
  }
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const AlgorithmConfig& config = algorithm->config();
  const fs::path directory = tune::make_trial_directory(
      fs::path(expanded(trial.local_dir)) / safe_name(trial.name),
      fmt::format("{}_{}_{:%Y-%m-%d_%H-%M-%S}", config.algorithm(),
                  *config.common().environment.env, fmt::localtime(now)));
  const FileLock lock(directory / ".lock", directory.string());
  write_record(directory, trial, config);
  return run_in(directory, trial, *algorithm, arguments, interrupt);
}

tune::TrialOutcome resume(const TrainArguments& arguments, tune::Interrupt& interrupt) {
  fs::path given = fs::path(expanded(arguments.resume)).lexically_normal();
  if (!given.has_filename()) given = given.parent_path();
  if (!fs::is_directory(given)) {
    fail(ErrorKind::checkpoint, "{}: no such directory", given.string());
  }
  const fs::path directory = fs::exists(given / "manifest.json") ? given.parent_path() : given;
  const FileLock lock(directory / ".lock", directory.string());
  const tune::FoundCheckpoint found = tune::find_checkpoint(given);

  PlannedTrial trial = read_record(directory);
  trial.config = config_of(found.state);
  apply_arguments(arguments, trial);
  check_trial(trial);
  const auto algorithm = trial.config->build();
  algorithm->load_state(found.state);
  const std::int64_t iteration = algorithm->iteration();

  cut_results(directory / "result.json", directory / "progress.csv", iteration);
  tune::TrialCheckpoints(directory, trial.checkpoints, algorithm->metric_names()).cut(iteration);
  if (const auto last = last_result(directory / "result.json")) {
    if (const auto met = trial.stop.met_by(*last, algorithm->metric_names())) {
      if (!arguments.quiet) fmt::print("nothing to do: {}; give a larger --stop\n", *met);
      return {.reason = *met};
    }
  }
  write_record(directory, trial, algorithm->config());
  note_resume(directory, found.directory, arguments.stop, arguments.set);
  return run_in(directory, trial, *algorithm, arguments, interrupt);
}

int exit_code_of(const tune::TrialOutcome& outcome) {
  if (!outcome.signal) return kSuccess;
  return *outcome.signal == SIGINT ? kInterrupted : kTerminated;
}

}  // namespace

int train(const TrainArguments& arguments) {
  set_log_level(arguments.verbose ? LogLevel::info : LogLevel::warning);
  if (!arguments.resume.empty()) {
    if (!arguments.files.empty() || !arguments.run.empty()) {
      fail(ErrorKind::config, "--resume {} goes on with that run's own config: give no other",
           arguments.resume);
    }
    tune::Interrupt interrupt;
    return exit_code_of(resume(arguments, interrupt));
  }
  const std::vector<PlannedTrial> trials = trials_of(arguments);
  tune::Interrupt interrupt;
  for (const PlannedTrial& trial : trials) {
    const tune::TrialOutcome outcome = start(trial, arguments, interrupt);
    if (outcome.signal || interrupt.signal()) return exit_code_of(outcome);
  }
  return kSuccess;
}

}  // namespace knurl::cli
