#include "knurl/apps/cli/trial_summary.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "knurl/apps/cli/console.h"
#include "knurl/core/base/text.h"

namespace knurl::cli {
namespace {

std::string score_text(const EndedTrial& trial) {
  return trial.score ? figures(*trial.score) : "-";
}

void tell_best(std::span<const EndedTrial> trials, const std::string& experiment) {
  if (std::ranges::count(trials, experiment, &EndedTrial::experiment) < 2) return;
  const EndedTrial* best = nullptr;
  for (const EndedTrial& trial : trials) {
    if (trial.experiment != experiment || trial.failed || !trial.score) continue;
    if (!best || *trial.score > *best->score) best = &trial;
  }
  if (!best) return;
  tell_line(fmt::format("best: {}, return {} -> {}", best->label, score_text(*best),
                        best->directory.string()));
}

}  // namespace

EndedTrial ended(const PlannedTrial& trial, const std::filesystem::path& directory,
                 const tune::TrialOutcome& outcome, const std::string& score) {
  return {.experiment = trial.name,
          .label = label_of(trial),
          .directory = directory,
          .env_steps = std::llround(outcome.last.number("timesteps_total").value_or(0.0)),
          .score = outcome.last.number(score),
          .reason = outcome.reason};
}

void tell_summary(std::span<const EndedTrial> trials) {
  const auto failed = std::ranges::count(trials, true, &EndedTrial::failed);
  tell_line(fmt::format("{} trials ended, {} failed:", trials.size(), failed));
  for (const EndedTrial& trial : trials) {
    tell_line(fmt::format("  {}: return {}, {} steps, {}", trial.label, score_text(trial),
                          grouped(trial.env_steps), trial.reason));
  }
  std::set<std::string> told;
  for (const EndedTrial& trial : trials) {
    if (told.insert(trial.experiment).second) tell_best(trials, trial.experiment);
  }
}

}  // namespace knurl::cli
