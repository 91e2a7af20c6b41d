#pragma once

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/core/metrics/result.h"

namespace knurl {

/// Every metric that training with a config on an env reports: its name in RLlib 2.9, its other
/// names, what it says. Evaluation's are there where the config evaluates.
MetricNames metric_names(const AlgorithmConfig& config, const EnvSpec& env);

}  // namespace knurl
