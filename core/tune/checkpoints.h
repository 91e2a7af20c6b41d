#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>

#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/metrics/result.h"
#include "knurl/core/tune/experiment.h"

namespace knurl::tune {

/// The checkpoints of a trial: which there are, how good they are, which may go. The last and the
/// best are never deleted.
class TrialCheckpoints {
 public:
  /// Takes stock of what is in the trial's directory; scores come from its result.json.
  TrialCheckpoints(std::filesystem::path trial, CheckpointOptions options, MetricNames names);

  /// Writes the checkpoint of an iteration, then deletes what is over num_to_keep. Throws
  /// Error(io).
  std::filesystem::path write(const CheckpointData& state, std::int64_t iteration,
                              const Result& result);

  /// The checkpoint with the best value of a metric, the later of equals; nothing where none has
  /// one.
  [[nodiscard]] std::optional<std::filesystem::path> best(const std::string& metric,
                                                          ScoreOrder order) const;
  [[nodiscard]] std::optional<std::filesystem::path> last() const;

  /// Forgets and deletes those after an iteration: a resumed run writes them again.
  void cut(std::int64_t last_iteration);

 private:
  [[nodiscard]] std::optional<double> score(std::int64_t iteration,
                                            const std::string& metric) const;
  /// The iteration with the best score of a metric.
  [[nodiscard]] std::optional<std::int64_t> best_iteration(const std::string& metric,
                                                           ScoreOrder order) const;
  void delete_surplus();

  std::filesystem::path trial_;
  CheckpointOptions options_;
  MetricNames names_;
  std::map<std::int64_t, std::filesystem::path> checkpoints_;
  std::map<std::int64_t, Result> results_;  ///< of the iterations that have a checkpoint
};

}  // namespace knurl::tune
