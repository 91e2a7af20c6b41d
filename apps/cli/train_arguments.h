#pragma once

#include <vector>

#include "knurl/apps/cli/commands.h"
#include "knurl/apps/cli/planned_trial.h"

namespace knurl::cli {

/// Throws Error(config) for options of `train` that contradict each other.
void check_arguments(const TrainArguments& arguments);

/// Lays on a trial what the command line gives, then makes sure that it could start. Throws
/// Error(config) or Error(env) otherwise.
void finish(PlannedTrial& trial, const TrainArguments& arguments);

}  // namespace knurl::cli
