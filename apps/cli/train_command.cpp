#include <algorithm>
#include <csignal>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/policy_options.h"
#include "knurl/algorithms/registry.h"
#include "knurl/apps/cli/cli.h"
#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/apps/cli/resume.h"
#include "knurl/apps/cli/train_arguments.h"
#include "knurl/apps/cli/trial_record.h"
#include "knurl/apps/cli/trial_run.h"
#include "knurl/apps/cli/trial_summary.h"
#include "knurl/core/base/error.h"
#include "knurl/core/base/file.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/text.h"
#include "knurl/core/config/problems.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

/// Words that are no file, but look like something else that `train` takes.
void check_file(const std::string& file) {
  if (fs::exists(expanded(file))) return;
  if (file.find('=') != std::string::npos) {
    fail(ErrorKind::config, "{}: no such file; options are given as --set {}", file, file);
  }
  for (const AlgorithmEntry& entry : registered_algorithms()) {
    if (entry.name == file) {
      fail(ErrorKind::config, "{}: no such file; did you mean --run {}?", file, file);
    }
  }
}

std::vector<PlannedTrial> trials_of(const TrainArguments& arguments) {
  Problems problems;
  std::vector<PlannedTrial> trials;
  for (const std::string& file : arguments.files) {
    problems.collect({}, [&] {
      check_file(file);
      for (PlannedTrial& trial : trials_of_file(expanded(file))) trials.push_back(std::move(trial));
    });
  }
  problems.throw_any();
  if (arguments.files.empty()) {
    const bool named = !arguments.experiment_name.empty();
    trials.push_back({.name = named ? arguments.experiment_name : "default",
                      .config = make_config(arguments.run)});
  }
  for (PlannedTrial& trial : trials) {
    try {
      finish(trial, arguments);
    } catch (const Error& error) {
      if (trials.size() == 1 || error.kind() != ErrorKind::config) throw;
      problems.add({}, fmt::format("{}: {}", label_of(trial), error.what()));
    }
  }
  problems.throw_any();
  return trials;
}

/// Takes over the weights of a checkpoint, nothing else.
void start_from(const fs::path& path, Algorithm& algorithm) {
  const CheckpointData state = tune::find_checkpoint(path).state;
  require_same_policy(*config_of(state), algorithm.config(), {.name = "the checkpoint"});
  Weights weights = weights_of(state);
  weights.version = 0;  // this run's updates count from here
  try {
    algorithm.set_weights({{"default_policy", std::move(weights)}});
  } catch (const Error& error) {
    fail(ErrorKind::checkpoint, "--init-from {}: {}", path.string(), error.what());
  }
}

/// "PPO_CartPole-v1_2_lr=0.1_2026-11-30_12-00-00"; a long tag is cut so that the time stays.
std::string directory_name(const PlannedTrial& trial, const AlgorithmConfig& config) {
  constexpr std::size_t kMostOfTag = 60;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  const std::string tag = trial.tag.empty() ? "" : "_" + cut_to_bytes(trial.tag, kMostOfTag);
  return fmt::format("{}_{}{}_{:%Y-%m-%d_%H-%M-%S}", config.algorithm(),
                     *config.common().environment.env, tag, fmt::localtime(now));
}

/// A trial's end, and the signal that ended it, if one did.
struct Started {
  EndedTrial trial = {};
  std::optional<int> signal = {};
};

Started start(const PlannedTrial& trial, const TrainArguments& arguments,
              tune::Interrupt& interrupt) {
  const auto algorithm = trial.config->build();
  if (!arguments.init_from.empty()) start_from(expanded(arguments.init_from), *algorithm);
  const AlgorithmConfig& config = algorithm->config();
  const fs::path directory = tune::make_trial_directory(
      fs::path(expanded(trial.local_dir)) / safe_name(trial.name), directory_name(trial, config));
  const FileLock lock(directory / ".lock", directory.string());
  set_log_file(LogFile{.path = directory / kLogFile});
  write_record(directory, trial, config);
  const tune::TrialOutcome outcome =
      run_in(directory, trial, *algorithm, output_for(arguments.quiet, arguments.json), interrupt);
  return {.trial = ended(trial, directory, outcome, algorithm->metric_names().score()),
          .signal = outcome.signal};
}

/// The same, where a failure is to stop no other trial.
Started try_to_start(const PlannedTrial& trial, const TrainArguments& arguments,
                     tune::Interrupt& interrupt) {
  try {
    return start(trial, arguments, interrupt);
  } catch (...) {
    const std::string text = in_own_words(current_exception_text());
    log(LogLevel::error, "{}: {}", label_of(trial), text);
    return {.trial = {.experiment = trial.name,
                      .label = label_of(trial),
                      .reason = "failed: " + text,
                      .failed = true}};
  }
}

int exit_code_of(std::optional<int> signal) {
  return signal ? 128 + *signal : static_cast<int>(kSuccess);
}

/// Runs trials in turn until they are through or a signal comes.
int run_all(const std::vector<PlannedTrial>& trials, const TrainArguments& arguments,
            tune::Interrupt& interrupt) {
  std::vector<EndedTrial> over;
  std::optional<int> signal;
  for (const PlannedTrial& trial : trials) {
    const Started started = try_to_start(trial, arguments, interrupt);
    set_log_file({});  // an error stays with the trial that it ended
    over.push_back(started.trial);
    const bool more = &trial != &trials.back();
    signal = started.signal || !more ? started.signal : interrupt.signal();
    if (signal) break;
  }
  const Output output = output_for(arguments.quiet, arguments.json);
  if (output == Output::live || output == Output::lines) tell_summary(over);
  if (signal) return exit_code_of(signal);
  return std::ranges::any_of(over, &EndedTrial::failed) ? kFailure : kSuccess;
}

}  // namespace

int train(const TrainArguments& given) {
  set_log_level(given.verbose ? LogLevel::info : LogLevel::warning);
  std::signal(SIGPIPE, SIG_IGN);  // training does not end because nobody reads along,
  std::signal(SIGXFSZ, SIG_IGN);  // and a file that may not grow is an error like a full disk
  TrainArguments arguments = given;
  if (!arguments.files.empty() && arguments.files.front() == "file") {  // as RLlib has it
    arguments.files.erase(arguments.files.begin());
  }
  check_arguments(arguments);
  tune::Interrupt interrupt;  // before the first env is made: it may start threads
  if (!arguments.resume.empty()) {
    return exit_code_of(resume(arguments, interrupt).signal);
  }
  const std::vector<PlannedTrial> trials = trials_of(arguments);
  if (trials.size() > 1) return run_all(trials, arguments, interrupt);
  return exit_code_of(start(trials.front(), arguments, interrupt).signal);
}

}  // namespace knurl::cli
