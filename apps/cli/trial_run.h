#pragma once

#include <filesystem>

#include "knurl/algorithms/algorithm.h"
#include "knurl/apps/cli/console.h"
#include "knurl/apps/cli/planned_trial.h"
#include "knurl/core/tune/interrupt.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {

/// The file of a trial's messages.
inline constexpr const char* kLogFile = "log.txt";

/// Trains a trial that has its directory, and tells about it.
tune::TrialOutcome run_in(const std::filesystem::path& directory, const PlannedTrial& trial,
                          Algorithm& algorithm, Output output, tune::Interrupt& interrupt);

}  // namespace knurl::cli
