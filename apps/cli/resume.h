#pragma once

#include "knurl/apps/cli/commands.h"
#include "knurl/core/tune/interrupt.h"
#include "knurl/core/tune/trial.h"

namespace knurl::cli {

/// Goes on with the trial that --resume names.
tune::TrialOutcome resume(const TrainArguments& arguments, tune::Interrupt& interrupt);

}  // namespace knurl::cli
