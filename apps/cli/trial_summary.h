#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "knurl/apps/cli/planned_trial.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {

/// A trial that is over, as the summary of several shows it.
struct EndedTrial {
  std::string experiment = {};
  std::string label = {};  ///< as label_of
  std::filesystem::path directory = {};
  std::int64_t env_steps = 0;
  std::optional<double> score = {};  ///< the last; nothing before an episode has ended
  std::string reason = {};           ///< why it ended
  bool failed = false;
};

/// How a trial ended that did not fail; `score` names the metric by which it is good.
EndedTrial ended(const PlannedTrial& trial, const std::filesystem::path& directory,
                 const tune::TrialOutcome& outcome, const std::string& score);

/// Tells how several trials ended, and which is best of each experiment that has more than one:
/// that with the highest score.
void tell_summary(std::span<const EndedTrial> trials);

}  // namespace knurl::cli
