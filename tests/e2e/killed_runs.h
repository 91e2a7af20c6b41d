#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "command.h"

namespace knurl::e2e {

/// An experiment that keeps much from step to step, as a file's text.
struct Experiment {
  std::string name = {};
  std::string yaml = {};
  int iterations = 0;
  std::chrono::milliseconds start_up = {};  ///< about what a process takes until it trains
};

/// One for each way in which state is kept: replay with Rainbow, nets with filters and exploration
/// that lasts, tables with steps that wait or visits that are counted.
std::vector<Experiment> experiments(int iterations);

/// Trains an experiment without interruption; the trial's directory.
std::filesystem::path train_whole(const Scratch& scratch, const Experiment& experiment,
                                  const std::vector<std::string>& environment = {});

struct KilledTrial {
  std::filesystem::path directory = {};
  int kills = 0;  ///< that found the process at work
};
/// Trains an experiment, killed (SIGKILL) and resumed `kills` times at moments that are drawn from
/// `seed`: after an iteration, within one, or while the run is being taken up again.
KilledTrial train_killed(const Scratch& scratch, const Experiment& experiment, int kills,
                         std::uint64_t seed);

/// What two trials of one experiment differ in: their checkpoints byte for byte but for
/// `time_total_s`; rows of result.json and progress.csv but for times, throughput and load, the
/// process (date, timestamp, pid, trial_id), and what counts from a resumption on
/// (…_since_restore); how many iterations are in TensorBoard's files. Nothing where they are the
/// same run.
std::vector<std::string> differences(const std::filesystem::path& first,
                                     const std::filesystem::path& second);

}  // namespace knurl::e2e
