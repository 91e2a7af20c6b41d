#pragma once

#include "knurl/algorithms/options.h"

/// Contradictions within one group of options that all algorithms have. Each throws Error(config)
/// naming the options.
namespace knurl {

/// An option of the other type of optimizer.
void check_belonging(const OptimizerConfig& optimizer);
/// An option of another type of exploration; `fresh` is the algorithm's own default.
void check_belonging(const ExplorationConfig& exploration, const ExplorationConfig& fresh);
/// An evaluation_config that is no map, and a duration of auto beside nothing.
void check_evaluation(const EvaluationOptions& options);

}  // namespace knurl
