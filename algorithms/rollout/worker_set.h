#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/rollout/rollout_worker.h"
#include "knurl/algorithms/rollout/worker_actors.h"
#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/runtime/runtime.h"

namespace knurl {

/// The rollout workers of a run: one in this thread, or actors. Envs are numbered through, so that
/// the same envs give the same steps however many workers share them.
class WorkerSet {
 public:
  explicit WorkerSet(const AlgorithmConfig& config);

  /// A fragment from each worker, in order of the workers. Throws what a worker throws, also what
  /// it threw at the last set_weights.
  std::vector<Fragment> sample(const SampleRequest& request);
  /// Sends weights to all; what is sampled afterwards acts by them.
  void set_weights(const Weights& weights);

  void save(CheckpointData& out) const;
  /// Throws Error(checkpoint) where the state is of another number of workers.
  void check_fits(const CheckpointData& in) const;
  /// Throws Error(checkpoint) where the state is of another number of workers or envs.
  void load(const CheckpointData& in);

 private:
  [[nodiscard]] std::size_t num_workers() const { return local_ ? 1 : remote_.size(); }

  std::optional<WorkerRuntime> runtime_;  ///< where the actors live
  std::unique_ptr<RolloutWorker> local_;
  std::vector<runtime::ActorHandle<RolloutWorker>> remote_;
  std::vector<runtime::ObjectRef<void>> weights_sent_;
  std::chrono::nanoseconds patience_{0};  ///< after which a worker that does not report is named
};

}  // namespace knurl
