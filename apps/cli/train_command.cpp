#include <csignal>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
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

/// Options that contradict each other.
void check_arguments(const TrainArguments& a) {
  const std::pair<const char*, bool> of_new_runs[] = {
      {"a config file", !a.files.empty()},
      {"--run", !a.run.empty()},
      {"--env", !a.env.empty()},
      {"--seed", a.seed.has_value()},
      {"--output", !a.output.empty()},
      {"--experiment-name", !a.experiment_name.empty()},
      {"--init-from", !a.init_from.empty()},
  };
  if (!a.resume.empty()) {
    for (const auto& [name, given] : of_new_runs) {
      if (!given) continue;
      fail(ErrorKind::config, "--resume {} goes on with that run as it was: leave {} out", a.resume,
           name);
    }
    return;
  }
  if (!a.files.empty() && !a.run.empty()) {
    fail(ErrorKind::config, "--run {} and a config file: give one of them", a.run);
  }
  if (!a.files.empty() && !a.experiment_name.empty()) {
    fail(ErrorKind::config, "--experiment-name {}: the experiments of a file have names already",
         a.experiment_name);
  }
  if (a.files.empty() && a.run.empty()) {
    fail(ErrorKind::config, "train what? give a config file, or --run and --env");
  }
}

/// "min-loss": small is good, as Tune writes it.
void set_score(const std::string& attribute, tune::CheckpointOptions& checkpoints) {
  const bool small_is_good = attribute.starts_with("min-");
  checkpoints.checkpoint_score_attribute = small_is_good ? attribute.substr(4) : attribute;
  checkpoints.checkpoint_score_order =
      small_is_good ? tune::ScoreOrder::min : tune::ScoreOrder::max;
}

void set_checkpoints(const TrainArguments& arguments, tune::CheckpointOptions& checkpoints) {
  if (arguments.checkpoint_freq) checkpoints.checkpoint_frequency = *arguments.checkpoint_freq;
  if (arguments.checkpoint_at_end) checkpoints.checkpoint_at_end = *arguments.checkpoint_at_end;
  if (arguments.keep_checkpoints) checkpoints.num_to_keep = arguments.keep_checkpoints;
  const std::string in_file = *checkpoints.checkpoint_score_attribute;
  if (!arguments.checkpoint_score_attr.empty()) {
    set_score(arguments.checkpoint_score_attr, checkpoints);
  } else if (in_file.starts_with("min-")) {
    set_score(in_file, checkpoints);
  }
}

/// Lays on a trial what the command line gives, then makes sure that it could start.
void finish(PlannedTrial& trial, const TrainArguments& arguments) {
  if (!arguments.config.empty()) {
    trial.config->update(parse_yaml(arguments.config, "--config"), "config");
  }
  trial.config->update(overrides_of(arguments.set), "config");
  if (!arguments.env.empty()) {
    trial.config->update(overrides_of({"env=" + arguments.env}), "config");
  }
  if (arguments.seed) {
    trial.config->update(overrides_of({fmt::format("seed={}", *arguments.seed)}), "config");
  }
  set_checkpoints(arguments, trial.checkpoints);
  if (!arguments.output.empty()) trial.local_dir = arguments.output;

  const MetricNames metrics = check_trial(trial);
  if (arguments.stop.empty()) return;
  const auto stop = tune::StopConditions::from(parse_yaml(arguments.stop, "--stop"), "stop");
  trial.stop.update(stop, metrics);
  check_trial(trial);
}

std::vector<PlannedTrial> trials_of(const TrainArguments& arguments) {
  std::vector<PlannedTrial> trials;
  for (const std::string& file : arguments.files) {
    for (PlannedTrial& trial : trials_of_file(expanded(file))) trials.push_back(std::move(trial));
  }
  if (arguments.files.empty()) {
    const bool named = !arguments.experiment_name.empty();
    trials.push_back({.name = named ? arguments.experiment_name : "default",
                      .config = make_config(arguments.run)});
  }
  for (PlannedTrial& trial : trials) {
    try {
      finish(trial, arguments);
    } catch (const Error& error) {
      if (trials.size() == 1) throw;
      fail(error.kind(), "{}: {}", trial.name, error.what());
    }
  }
  return trials;
}

void announce(const PlannedTrial& trial, const AlgorithmConfig& config, const fs::path& directory) {
  const CommonOptions& options = config.common();
  tell_line(fmt::format("{}: {} on {}, {} x {} envs, seed {} -> {}", trial.name, config.algorithm(),
                        *options.environment.env,
                        std::max(1, options.rollouts.num_rollout_workers.value()),
                        options.rollouts.num_envs_per_worker.value(),
                        options.debugging.seed->value_or(0), directory.string()));
  if (trial.stop.empty()) tell_line("no stop condition: Ctrl-C ends the run with a checkpoint");
}

/// What was accepted without effect is named once, where it does not disturb.
void announce_notes(const PlannedTrial& trial, Output output) {
  std::vector<std::string> notes = trial.notes;
  notes.insert(notes.end(), trial.config->notes().begin(), trial.config->notes().end());
  if (notes.empty()) return;
  const std::string text = fmt::format("without effect here: {}", fmt::join(notes, ", "));
  if (output == Output::json) {
    log(LogLevel::warning, "{}", text);
  } else if (output != Output::quiet) {
    tell_line(text);
  }
}

void warn_of_overshoot(const tune::TrialOutcome& outcome, const tune::StopConditions& stop,
                       const MetricNames& metrics) {
  for (const auto& condition : stop.conditions()) {
    const MetricInfo* metric = metrics.find(condition.metric);
    if (!metric || metric->kind != MetricKind::counter) continue;
    const auto total = outcome.last.number(metric->name);
    if (!total || *total <= 1.1 * condition.bound) continue;
    log(LogLevel::warning, "stop at {} {:.10g}: a whole iteration was trained, {:.10g} in all",
        condition.metric, condition.bound, *total);
  }
}

void report_end(const tune::TrialOutcome& outcome) {
  tell_line(fmt::format("ended: {}", outcome.reason));
  if (!outcome.last_checkpoint) return;
  tell_line(fmt::format("last checkpoint: {}", outcome.last_checkpoint->string()));
  if (!outcome.best_checkpoint) return;
  tell_line(fmt::format("best checkpoint: {}", outcome.best_checkpoint->string()));
  tell_line(fmt::format("evaluate it:     {} evaluate {}", own_command(),
                        shell_quoted(outcome.best_checkpoint->string())));
}

/// Trains a trial that has its directory.
tune::TrialOutcome run_in(const fs::path& directory, const PlannedTrial& trial,
                          Algorithm& algorithm, const TrainArguments& arguments,
                          tune::Interrupt& interrupt) {
  const Output output = output_for(arguments.quiet, arguments.json);
  const bool talk = output == Output::live || output == Output::lines;
  if (talk) announce(trial, algorithm.config(), directory);
  announce_notes(trial, output);
  tune::TrialOutcome outcome;
  {
    Console console(output, trial.stop, algorithm.metric_names());
    outcome = tune::run_trial(
        algorithm, {.directory = directory, .stop = trial.stop, .checkpoints = trial.checkpoints},
        &interrupt, console);
  }
  warn_of_overshoot(outcome, trial.stop, algorithm.metric_names());
  if (talk) report_end(outcome);
  return outcome;
}

/// Takes over the weights of a checkpoint, nothing else.
void start_from(const fs::path& path, Algorithm& algorithm) {
  Weights weights = weights_of(tune::find_checkpoint(path).state);
  weights.version = 0;  // this run's updates count from here
  try {
    algorithm.set_weights({{"default_policy", std::move(weights)}});
  } catch (const Error& error) {
    fail(ErrorKind::checkpoint, "--init-from {}: the weights are those of another net: {}",
         path.string(), error.what());
  }
}

tune::TrialOutcome start(const PlannedTrial& trial, const TrainArguments& arguments,
                         tune::Interrupt& interrupt) {
  const auto algorithm = trial.config->build();
  if (!arguments.init_from.empty()) start_from(expanded(arguments.init_from), *algorithm);
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

/// A trial's directory, and which of its checkpoints was asked for, if one was.
struct ResumePlace {
  fs::path trial;
  fs::path checkpoint;  ///< or the trial, for the newest
};

ResumePlace find_place(const std::string& argument) {
  std::error_code problem;
  const fs::path given = fs::canonical(expanded(argument), problem);
  if (problem || !fs::is_directory(given)) {
    fail(ErrorKind::checkpoint, "--resume {}: no such directory", argument);
  }
  const fs::path shown = near_path(given);
  const bool checkpoint = fs::exists(given / "manifest.json");
  const ResumePlace place{.trial = checkpoint ? near_path(given.parent_path()) : shown,
                          .checkpoint = shown};
  require_record(place.trial);
  return place;
}

/// The run is to go on as what it is.
void check_unchanged(const AlgorithmConfig& saved, const AlgorithmConfig& now) {
  const auto refuse = [](const char* option, const auto& was, const auto& is) {
    if (was == is) return;
    fail(ErrorKind::config,
         "{} = {}: the run has {}, and is resumed with it; start a new one with --init-from to "
         "change it",
         option, is, was);
  };
  const CommonOptions& a = saved.common();
  const CommonOptions& b = now.common();
  refuse("env", *a.environment.env, *b.environment.env);
  refuse("seed", a.debugging.seed->value_or(0), b.debugging.seed->value_or(0));
  refuse("num_rollout_workers", a.rollouts.num_rollout_workers.value(),
         b.rollouts.num_rollout_workers.value());
  refuse("num_envs_per_worker", a.rollouts.num_envs_per_worker.value(),
         b.rollouts.num_envs_per_worker.value());
}

/// The condition that was met when the checkpoint was made.
std::optional<std::string> already_met(const fs::path& directory, const Algorithm& algorithm,
                                       const tune::StopConditions& stop) {
  std::optional<Result> row = result_of_iteration(directory / "result.json", algorithm.iteration());
  if (!row) return std::nullopt;
  for (const char* counted_anew :
       {"time_since_restore", "iterations_since_restore", "timesteps_since_restore"}) {
    row->set(counted_anew, 0);
  }
  return stop.met_by(*row, algorithm.metric_names());
}

tune::TrialOutcome resume(const TrainArguments& arguments, tune::Interrupt& interrupt) {
  const ResumePlace place = find_place(arguments.resume);
  const fs::path& directory = place.trial;
  const FileLock lock(directory / ".lock", directory.string());
  const tune::FoundCheckpoint found = tune::find_checkpoint(place.checkpoint);

  PlannedTrial trial = read_record(directory);
  const auto saved = config_of(found.state);
  trial.config = saved->clone();
  finish(trial, arguments);
  check_unchanged(*saved, *trial.config);
  const auto algorithm = trial.config->build();
  algorithm->load_state(found.state);

  if (const auto met = already_met(directory, *algorithm, trial.stop)) {
    log(LogLevel::warning, "nothing to do: {}; give a larger --stop", *met);
    return {.reason = *met};
  }
  cut_results(directory / "result.json", directory / "progress.csv", algorithm->iteration());
  tune::TrialCheckpoints(directory, trial.checkpoints, algorithm->metric_names())
      .cut(algorithm->iteration());
  fs::remove(directory / "error.txt");
  write_record(directory, trial, algorithm->config());
  note_resume(directory, {.checkpoint = found.directory,
                          .stop = arguments.stop,
                          .config = arguments.config,
                          .set = arguments.set});
  return run_in(directory, trial, *algorithm, arguments, interrupt);
}

int exit_code_of(std::optional<int> signal) {
  return signal ? 128 + *signal : static_cast<int>(kSuccess);
}

}  // namespace

int train(const TrainArguments& given) {
  set_log_level(given.verbose ? LogLevel::info : LogLevel::warning);
  std::signal(SIGPIPE, SIG_IGN);  // training does not end because nobody reads along
  TrainArguments arguments = given;
  if (!arguments.files.empty() && arguments.files.front() == "file") {  // as RLlib has it
    arguments.files.erase(arguments.files.begin());
  }
  check_arguments(arguments);
  if (!arguments.resume.empty()) {
    tune::Interrupt interrupt;
    return exit_code_of(resume(arguments, interrupt).signal);
  }
  const std::vector<PlannedTrial> trials = trials_of(arguments);
  tune::Interrupt interrupt;
  for (const PlannedTrial& trial : trials) {
    const tune::TrialOutcome outcome = start(trial, arguments, interrupt);
    if (outcome.signal) return exit_code_of(outcome.signal);
    const bool more = &trial != &trials.back();
    if (more && interrupt.signal()) return exit_code_of(interrupt.signal());
  }
  return kSuccess;
}

}  // namespace knurl::cli
