#include "knurl/apps/cli/trial_run.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "knurl/algorithms/determinism.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/plugin.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

void announce(const PlannedTrial& trial, const AlgorithmConfig& config, const fs::path& directory) {
  const CommonOptions& options = config.common();
  tell_line(fmt::format("{}: {} on {}, {} x {} envs, seed {} -> {}", label_of(trial),
                        config.algorithm(), *options.environment.env,
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

/// What is learnt until a bound of time is the same; how far that is, is not.
void warn_of_timed_stop(const tune::StopConditions& stop, const Algorithm& algorithm) {
  if (!algorithm.config().common().debugging.deterministic) return;
  for (const auto& condition : stop.conditions()) {
    if (!is_timed(algorithm.metric_names().canonical(condition.metric))) continue;
    log(LogLevel::warning,
        "stop at {} {:.10g}: where a deterministic run ends by it depends on time; what it learns "
        "until then does not",
        condition.metric, condition.bound);
  }
}

void report_end(const tune::TrialOutcome& outcome, const std::string& phases) {
  tell_line(fmt::format("ended: {}", outcome.reason));
  if (!phases.empty()) tell_line(fmt::format("time: {}", phases));
  if (!outcome.last_checkpoint) return;
  tell_line(fmt::format("last checkpoint: {}", outcome.last_checkpoint->string()));
  if (!outcome.best_checkpoint) return;
  tell_line(fmt::format("best checkpoint: {}", outcome.best_checkpoint->string()));
  tell_line(fmt::format("evaluate it:     {} evaluate {}{}", own_command(),
                        shell_quoted(outcome.best_checkpoint->string()),
                        plugin_flags(loaded_plugins())));
}

}  // namespace

tune::TrialOutcome run_in(const fs::path& directory, const PlannedTrial& trial,
                          Algorithm& algorithm, Output output, tune::Interrupt& interrupt) {
  log(LogLevel::info, "{}: process {} trains from iteration {} on", label_of(trial), ::getpid(),
      algorithm.iteration() + 1);
  const bool talk = output == Output::live || output == Output::lines;
  if (talk) announce(trial, algorithm.config(), directory);
  announce_notes(trial, output);
  algorithm.set_directory(directory);
  warn_of_timed_stop(trial.stop, algorithm);
  tune::TrialOutcome outcome;
  std::string phases;
  {
    Console console(output, trial.stop, algorithm.metric_names());
    outcome = tune::run_trial(
        algorithm, {.directory = directory, .stop = trial.stop, .checkpoints = trial.checkpoints},
        &interrupt, console);
    phases = console.phases();
  }
  warn_of_overshoot(outcome, trial.stop, algorithm.metric_names());
  log(LogLevel::info, "{}: ended: {}", label_of(trial), outcome.reason);
  if (talk) report_end(outcome, phases);
  return outcome;
}

}  // namespace knurl::cli
