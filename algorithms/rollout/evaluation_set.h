#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/rollout/evaluation.h"
#include "knurl/algorithms/rollout/worker_actors.h"

namespace knurl {

/// The workers that evaluate a run: one in this thread, or actors. What they find does not depend
/// on their number, unless evaluation lasts as long as training.
class EvaluationSet {
 public:
  /// `config` is training's, resolved.
  explicit EvaluationSet(const AlgorithmConfig& config);
  ~EvaluationSet();
  EvaluationSet(const EvaluationSet&) = delete;
  EvaluationSet& operator=(const EvaluationSet&) = delete;

  /// Begins an evaluation: actors run from now on, the driver's own worker runs in finish().
  void start(const Weights& weights, EvaluationStart start);
  /// Waits for what the config's evaluation_duration asks for, and returns the episodes in order of
  /// their number; with duration auto ends it. Throws what a worker throws.
  std::vector<EpisodeSummary> finish();

 private:
  using Episodes = std::vector<EpisodeSummary>;

  /// Ends a running evaluation with duration auto that nobody waits for.
  void let_go();
  void ask(std::int64_t end);
  Episodes collect();
  Episodes run_steps(std::int64_t steps);

  const OrAuto<int> duration_;
  const EvaluationUnit unit_;
  const std::chrono::nanoseconds patience_;
  std::int64_t envs_ = 1;  ///< of all workers
  std::unique_ptr<EvaluationWorker> local_;
  std::optional<WorkerRuntime> runtime_;  ///< where the actors live
  std::vector<runtime::ActorHandle<EvaluationWorker>> remote_;
  std::vector<runtime::ObjectRef<void>> begun_;
  std::vector<runtime::ObjectRef<Episodes>> asked_;
  runtime::ActorHandle<FinishLine> line_;  ///< of an evaluation with duration auto that runs
};

}  // namespace knurl
