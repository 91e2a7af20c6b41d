#include "knurl/apps/cli/resume.h"

#include <filesystem>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/policy_options.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/apps/cli/train_arguments.h"
#include "knurl/apps/cli/trial_record.h"
#include "knurl/apps/cli/trial_run.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/plugin.h"
#include "knurl/core/config/yaml.h"
#include "knurl/core/metrics/sinks.h"
#include "knurl/core/metrics/tensorboard.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

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

/// Opens the run's plug-ins, unless the command line gives them anew.
void load_recorded_plugins(const fs::path& directory) {
  if (!loaded_plugins().empty()) return;
  for (const fs::path& plugin : recorded_plugins(directory)) {
    if (!fs::exists(plugin)) {
      fail(ErrorKind::config,
           "{}: was trained with the plug-in {}, which is not there any more: say where it is with "
           "--plugin",
           directory.string(), plugin.string());
    }
    load_plugin(plugin);
  }
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
  refuse("env_config", to_json(*a.environment.env_config), to_json(*b.environment.env_config));
  refuse("seed", a.debugging.seed->value_or(0), b.debugging.seed->value_or(0));
  refuse("deterministic", a.debugging.deterministic.value(), b.debugging.deterministic.value());
  refuse("num_rollout_workers", a.rollouts.num_rollout_workers.value(),
         b.rollouts.num_rollout_workers.value());
  refuse("num_envs_per_worker", a.rollouts.num_envs_per_worker.value(),
         b.rollouts.num_envs_per_worker.value());
  require_same_policy(saved, now, {.name = "the run"});
}

/// The condition that was met when the checkpoint was made, as its row of results tells.
std::optional<std::string> already_met(std::optional<Result> row, const Algorithm& algorithm,
                                       const tune::StopConditions& stop) {
  if (!row) return std::nullopt;
  for (const char* counted_anew :
       {"time_since_restore", "iterations_since_restore", "timesteps_since_restore"}) {
    row->set(counted_anew, 0);
  }
  return stop.met_by(*row, algorithm.metric_names());
}

}  // namespace

tune::TrialOutcome resume(const TrainArguments& arguments, tune::Interrupt& interrupt) {
  const ResumePlace place = find_place(arguments.resume);
  const fs::path& directory = place.trial;
  const FileLock lock(directory / ".lock", directory.string());
  set_log_file(LogFile{.path = directory / kLogFile});
  const tune::FoundCheckpoint found = tune::find_checkpoint(place.checkpoint);

  load_recorded_plugins(directory);
  PlannedTrial trial = read_record(directory);
  const auto saved = config_of(found.state);
  trial.config = saved->clone();
  finish(trial, arguments);
  check_unchanged(*saved, *trial.config);
  const auto algorithm = trial.config->build();
  try {
    algorithm->load_state(found.state);
  } catch (const Error& error) {
    if (arguments.set.empty() && arguments.config.empty()) throw;
    fail(ErrorKind::config, "--resume {} with other options: {}", arguments.resume, error.what());
  }

  const fs::path results = directory / "result.json";
  const auto row = result_of_iteration(results, algorithm->iteration());
  if (!row && algorithm->iteration() > 0) {
    log(LogLevel::warning, "{}: the row of iteration {} is gone: results of before are incomplete",
        results.string(), algorithm->iteration());
  }
  if (const auto met = already_met(row, *algorithm, trial.stop)) {
    log(LogLevel::warning, "nothing to do: {}; give a larger --stop", *met);
    return {.reason = *met};
  }
  // checkpoints first: one without its row would look newer than what is written from here on
  tune::TrialCheckpoints(directory, trial.checkpoints, algorithm->metric_names())
      .cut(algorithm->iteration());
  cut_results(results, directory / "progress.csv", algorithm->iteration());
  cut_events(directory, env_steps_of(found.state));
  fs::remove(directory / "error.txt");
  write_record(directory, trial, algorithm->config());
  note_resume(directory, {.checkpoint = found.directory,
                          .stop = arguments.stop,
                          .config = arguments.config,
                          .set = arguments.set});
  return run_in(directory, trial, *algorithm, output_for(arguments.quiet, arguments.json),
                interrupt);
}

}  // namespace knurl::cli
