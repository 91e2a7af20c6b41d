#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/core/tune/experiment.h"
#include "knurl/core/tune/stop.h"

namespace knurl::cli {

/// A trial that is ready to start: an experiment whose parts have been read and checked.
struct PlannedTrial {
  std::string name;  ///< of the experiment
  std::unique_ptr<AlgorithmConfig> config;
  tune::StopConditions stop;
  tune::CheckpointOptions checkpoints;
  std::string local_dir = "results";
};

/// The trials that a file's experiments describe. Throws Error(config).
std::vector<PlannedTrial> trials_of_file(const std::filesystem::path& path);
PlannedTrial trial_of(const tune::NamedExperiment& named);

/// Options from "--set a.b=value" arguments as a map. Throws Error(config).
ConfigValue overrides_of(const std::vector<std::string>& set);

}  // namespace knurl::cli
