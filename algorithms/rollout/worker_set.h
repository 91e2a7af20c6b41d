#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/algorithms/rollout/rollout_worker.h"
#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/runtime/runtime.h"

namespace knurl {

/// The rollout workers of a run: one in this thread, or actors. Envs are numbered through, so that
/// the same envs give the same steps however many workers share them.
class WorkerSet {
 public:
  /// Uses the active runtime for actors, or starts one that lives as long as this.
  explicit WorkerSet(const AlgorithmConfig& config);

  /// A fragment from each worker, in order of the workers.
  std::vector<Fragment> sample(const SampleRequest& request);
  /// Sends weights to all; what is sampled afterwards acts by them.
  void set_weights(const Weights& weights);

  /// Env steps that one `sample` of a step per env takes.
  [[nodiscard]] int num_envs() const { return num_envs_; }
  [[nodiscard]] int num_workers() const { return local_ ? 1 : static_cast<int>(remote_.size()); }

  void save(CheckpointData& out) const;
  /// Throws Error(checkpoint) where the state is of another number of workers or envs.
  void load(const CheckpointData& in);

 private:
  int num_envs_ = 0;
  std::optional<runtime::ScopedRuntime> own_runtime_;
  std::unique_ptr<RolloutWorker> local_;
  std::vector<runtime::ActorHandle<RolloutWorker>> remote_;
};

}  // namespace knurl
