#include "knurl/apps/cli/trial_run.h"

#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "knurl/algorithms/determinism.h"
#include "knurl/apps/cli/paths.h"
#include "knurl/core/base/log.h"
#include "knurl/core/base/plugin.h"
#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

namespace fs = std::filesystem;

/// "8 envs in the driver", "2 workers of 8 envs".
std::string envs_text(const RolloutOptions& options) {
  const auto counted = [](int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  const int workers = options.num_rollout_workers;
  const std::string envs = counted(options.num_envs_per_worker, "env");
  return workers == 0 ? envs + " in the driver" : counted(workers, "worker") + " of " + envs;
}

void announce(const PlannedTrial& trial, const AlgorithmConfig& config, const fs::path& directory) {
  const CommonOptions& options = config.common();
  tell_line(fmt::format("{}: {} on {}, {}, seed {} -> {}", label_of(trial), config.algorithm(),
                        *options.environment.env, envs_text(options.rollouts),
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

/// "100,096 steps in 0:06, 16,100/s, return 500": all of a run, from its first start on.
std::string sum_of(const Result& last, const std::string& score) {
  const double steps = last.number("timesteps_total").value_or(0.0);
  const double seconds = last.number("time_total_s").value_or(0.0);
  const std::string time = seconds < 1.0 ? fmt::format("{:.2g} s", seconds) : clock_text(seconds);
  std::string out = fmt::format("{} steps in {}", grouped(std::llround(steps)), time);
  if (seconds > 0.0) out += fmt::format(", {}/s", rate_text(steps / seconds));
  if (const auto mean = last.number(score)) out += fmt::format(", return {}", figures(*mean));
  return out;
}

void report_checkpoints(const tune::TrialOutcome& outcome) {
  if (!outcome.last_checkpoint) return;
  const std::string last = outcome.last_checkpoint->string();
  const std::string best = outcome.best_checkpoint.value_or(*outcome.last_checkpoint).string();
  if (best == last) {
    tell_line(fmt::format("checkpoint:      {} (the last and the best)", last));
  } else {
    tell_line(fmt::format("last checkpoint: {}", last));
    tell_line(fmt::format("best checkpoint: {}", best));
  }
  tell_line(fmt::format("evaluate it:     {} evaluate {}{}", own_command(), shell_quoted(best),
                        plugin_flags(loaded_plugins())));
}

void report_end(const fs::path& directory, const tune::TrialOutcome& outcome,
                const std::string& score, const std::string& phases) {
  tell_line(fmt::format("ended: {}", outcome.reason));
  tell_line(sum_of(outcome.last, score));
  if (!phases.empty()) tell_line(fmt::format("time: {}", phases));
  report_checkpoints(outcome);
  if (!outcome.signal) return;
  tell_line(fmt::format("go on:           {} train --resume {}", own_command(),
                        shell_quoted(directory.string())));
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
  if (talk) report_end(directory, outcome, algorithm.metric_names().score(), phases);
  return outcome;
}

}  // namespace knurl::cli
