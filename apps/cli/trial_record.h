#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "knurl/apps/cli/planned_trial.h"
#include "knurl/core/metrics/result.h"

namespace knurl::cli {

/// Writes params.json (the resolved config) and experiment.json (name, tag, stop, checkpoints,
/// plug-ins: what resuming needs beside a checkpoint; and where the run comes from: file, git
/// commit, seed, program and machine, which stay those of its start) into a trial's directory.
/// Throws Error(io).
void write_record(const std::filesystem::path& directory, const PlannedTrial& trial,
                  const AlgorithmConfig& resolved);

/// Throws Error(checkpoint) where a directory is not that of a trial.
void require_record(const std::filesystem::path& directory);
/// The trial that experiment.json tells of, without its config. Throws Error(checkpoint) where it
/// is missing or damaged.
PlannedTrial read_record(const std::filesystem::path& directory);

/// The plug-ins that a directory's trial was trained with; none where it is no trial's. Throws
/// Error(checkpoint) where experiment.json is damaged.
std::vector<std::filesystem::path> recorded_plugins(const std::filesystem::path& directory);

/// What a resumed trial was given anew.
struct Resumption {
  std::filesystem::path checkpoint = {};
  std::string stop = {};
  std::string config = {};
  std::vector<std::string> set = {};
};
/// Adds to experiment.json that a trial was resumed, and by which program on which machine.
void note_resume(const std::filesystem::path& directory, const Resumption& resumption);

/// The numbers of an iteration's line in a result.json; nothing where there is none.
std::optional<Result> result_of_iteration(const std::filesystem::path& result_json,
                                          std::int64_t iteration);

}  // namespace knurl::cli
