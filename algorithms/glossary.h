#pragma once

#include <string>
#include <vector>

#include "knurl/core/metrics/result.h"

namespace knurl {

/// What a metric says, and in whose results it stands.
struct Explanation {
  MetricInfo metric = {};
  std::vector<std::string> algorithms = {};  ///< those that report it; empty: every one
};

/// Everything that results of the registered algorithms hold, each name and sentence once: first
/// what all report, then what some do. An env's own info numbers stand there as one called "NAME";
/// evaluation's metrics, the same of other episodes, as "evaluation/…".
std::vector<Explanation> metric_glossary();

/// What a metric of this name or alias says, or all metrics of which it is the last part ("kl");
/// also of evaluation's, and of any env's info numbers. Throws Error(config) with the nearest names
/// where there is none.
std::vector<Explanation> explain_metric(const std::string& name);

}  // namespace knurl
