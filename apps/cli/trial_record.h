#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "knurl/apps/cli/planned_trial.h"
#include "knurl/core/metrics/result.h"

namespace knurl::cli {

/// Writes params.json (the resolved config) and experiment.json (name, stop, checkpoints: what
/// resuming needs beside a checkpoint) into a trial's directory. Throws Error(io).
void write_record(const std::filesystem::path& directory, const PlannedTrial& trial,
                  const AlgorithmConfig& resolved);

/// The trial that experiment.json tells of, without its config. Throws Error(checkpoint) where it
/// is missing or damaged.
PlannedTrial read_record(const std::filesystem::path& directory);

/// Adds to experiment.json that a trial was resumed, from where, and what was given anew.
void note_resume(const std::filesystem::path& directory, const std::filesystem::path& checkpoint,
                 const std::string& stop, const std::vector<std::string>& set);

/// The numbers of the last line of a result.json; nothing where there is none.
std::optional<Result> last_result(const std::filesystem::path& result_json);

/// A path with a leading "~" replaced by the home directory.
std::string expanded(const std::string& path);

/// An experiment's name as a directory: no slashes, not "." or "..".
std::string safe_name(const std::string& name);

}  // namespace knurl::cli
