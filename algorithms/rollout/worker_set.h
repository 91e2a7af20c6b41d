#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
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

  /// Records training's episodes below the run's directory, where the config asks for it.
  void record(const std::string& directory);

  /// What `Function`, a plain function or captureless lambda of a RolloutWorker&, returns in each
  /// worker, in order of the workers. Runs where the workers live.
  template <auto Function>
  auto foreach_worker() {
    using Answer = std::invoke_result_t<decltype(Function), RolloutWorker&>;
    static_assert(!std::is_void_v<Answer>, "foreach_worker's function returns something");
    if (local_) return std::vector<Answer>{Function(*local_)};
    std::vector<runtime::ObjectRef<Answer>> refs;
    for (const auto& worker : remote_) {
      refs.push_back(worker.template call<&RolloutWorker::apply<Function>>());
    }
    return runtime_->get().get(std::move(refs));
  }

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
