#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "knurl/core/tune/checkpoints.h"
#include "knurl/core/tune/experiment.h"
#include "knurl/core/tune/interrupt.h"
#include "knurl/core/tune/stop.h"
#include "knurl/core/tune/trainable.h"

namespace knurl::tune {

/// Makes the directory of a new trial below `experiment`: `name`, with characters that paths
/// dislike replaced, cut to 120 bytes, and a number where it is taken. Two trials that start at
/// once get two directories. Throws Error(io) where it cannot be made.
std::filesystem::path make_trial_directory(const std::filesystem::path& experiment,
                                           const std::string& name);

/// What a trial adds to each result beside its trainable's metrics: where, when, whether it is
/// over.
const std::vector<MetricInfo>& trial_facts();

/// Follows a trial while it runs.
class TrialObserver {
 public:
  virtual ~TrialObserver() = default;
  virtual void on_result(const Result& /*result*/) {}
};

struct TrialOptions {
  std::filesystem::path directory = {};
  StopConditions stop = {};
  CheckpointOptions checkpoints = {};
};

/// How a trial ended.
struct TrialOutcome {
  std::string reason = {};  ///< the condition that was met, or the signal
  std::optional<int> signal = std::nullopt;
  Result last = {};
  std::optional<std::filesystem::path> last_checkpoint = std::nullopt;
  std::optional<std::filesystem::path> best_checkpoint = std::nullopt;
};

/// Trains until a stop condition is met or a signal comes, writing result.json, progress.csv,
/// TensorBoard's event file and checkpoints into the trial's directory. After a signal the last
/// iteration is checkpointed. What train() throws goes on to the caller, after error.txt and a
/// checkpoint of the state from before it, at most two seconds of training older, have been
/// written.
TrialOutcome run_trial(Trainable& trainable, const TrialOptions& options, Interrupt* interrupt,
                       TrialObserver& observer);

/// A checkpoint and what it holds.
struct FoundCheckpoint {
  std::filesystem::path directory;
  CheckpointData state;
};

/// The newest checkpoint of a trial directory (or the checkpoint that a path is itself) that is
/// whole; damaged ones are passed over with a warning. Throws Error(checkpoint) where there is
/// none.
FoundCheckpoint find_checkpoint(const std::filesystem::path& path);

/// "; it is an experiment's directory: give one of its trials, …" where a directory that is no
/// trial holds some with checkpoints; else nothing.
std::string trials_hint(const std::filesystem::path& directory);

}  // namespace knurl::tune
