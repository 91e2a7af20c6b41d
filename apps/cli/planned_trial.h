#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/core/tune/experiment.h"
#include "knurl/core/tune/stop.h"

namespace knurl::cli {

/// A trial before it starts: an experiment whose parts have been read.
struct PlannedTrial {
  std::string name;      ///< of the experiment
  std::string tag = {};  ///< what a grid search chose: "0_lr=0.1"; empty where it has none
  std::unique_ptr<AlgorithmConfig> config;
  tune::StopConditions stop = {};
  tune::CheckpointOptions checkpoints = {};
  std::string local_dir = "results";
  std::vector<std::string> notes = {};  ///< what was given without effect: a line for each
  std::filesystem::path file = {};      ///< that it was read from; empty: none
};

/// How people are told of a trial: "cartpole", "cartpole 0_lr=0.1".
std::string label_of(const PlannedTrial& trial);

/// The trials that a file's experiments describe. Throws Error(config).
std::vector<PlannedTrial> trials_of_file(const std::filesystem::path& path);

/// Makes sure that a trial could start: options, env, spaces, metrics. Throws Error(config) or
/// Error(env) otherwise. Writes nothing. Returns the metrics that it will report.
MetricNames check_trial(const PlannedTrial& trial);

/// The trial as a file's experiment, with every option as the run will use it; only a seed that
/// nobody gave stays open.
ConfigValue to_value(const PlannedTrial& trial);

/// Options from "--set a.b=value" arguments as a map. Throws Error(config).
ConfigValue overrides_of(const std::vector<std::string>& set);

}  // namespace knurl::cli
