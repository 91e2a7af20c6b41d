#include "knurl/algorithms/rollout/worker_set.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/ranges.h>

#include "knurl/core/base/error.h"
#include "knurl/core/base/log.h"

namespace knurl {
namespace {

constexpr const char* kStateFile = "workers.safetensors";

/// The runtime that worker sets share where the program has not started one.
std::shared_ptr<runtime::ScopedRuntime> share_runtime() {
  static std::mutex mutex;
  static std::weak_ptr<runtime::ScopedRuntime> shared;
  const std::lock_guard lock(mutex);
  std::shared_ptr<runtime::ScopedRuntime> held = shared.lock();
  if (!held && !runtime::active()) {
    held = std::make_shared<runtime::ScopedRuntime>(runtime::init());
    shared = held;
  }
  return held;
}

}  // namespace

WorkerSet::WorkerSet(const AlgorithmConfig& config) {
  const RolloutOptions& options = config.common().rollouts;
  const int workers = options.num_rollout_workers;
  const int envs = options.num_envs_per_worker;
  const bool explore = config.common().exploration.explore;
  const auto spec = [&](int worker, int first_env) {
    return RolloutWorkerSpec{.algorithm = std::string(config.algorithm()),
                             .config = config.to_yaml(),
                             .worker = worker,
                             .num_envs = envs,
                             .first_env = first_env,
                             .total_envs = std::max(1, workers) * envs,
                             .acting = explore ? Acting::exploring : Acting::greedy};
  };
  if (workers == 0) {
    local_ = std::make_unique<RolloutWorker>(spec(0, 0));
    return;
  }
  timeout_ =
      std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 * options.sample_timeout_s.value()));
  shared_runtime_ = share_runtime();
  runtime_ = runtime::current_runtime();
  for (int worker = 1; worker <= workers; ++worker) {
    remote_.push_back(runtime_->actor<RolloutWorker>(
        runtime::ActorOptions{.name = fmt::format("rollout worker {}", worker)},
        spec(worker, (worker - 1) * envs)));
  }
  // an env that cannot be made is an error now, not at the first sample
  std::vector<runtime::ObjectRef<int>> made;
  for (const auto& worker : remote_) made.push_back(worker.call<&RolloutWorker::num_envs>());
  runtime_->get(std::move(made));
}

std::vector<Fragment> WorkerSet::sample(const SampleRequest& request) {
  std::vector<Fragment> fragments;
  if (local_) {
    fragments.push_back(local_->sample(request));
    return fragments;
  }
  std::vector<runtime::ObjectRef<Fragment>> refs;
  for (const auto& worker : remote_) refs.push_back(worker.call<&RolloutWorker::sample>(request));
  wait_for(refs);
  runtime_->get(weights_sent_);
  weights_sent_.clear();
  return runtime_->get(std::move(refs));
}

/// Waits until all workers have reported, or throws what the first that fails throws. An env that
/// hangs throws nothing: who is waited for is said now and then.
void WorkerSet::wait_for(const std::vector<runtime::ObjectRef<Fragment>>& refs) const {
  double waited = 0.0;
  for (auto pending = refs; !pending.empty();) {
    auto next = runtime_->wait(pending, {.timeout = timeout_});
    for (const auto& ref : next.ready) runtime_->get(ref);
    if (next.ready.empty()) {
      waited += std::chrono::duration<double>(timeout_).count();
      std::vector<std::ptrdiff_t> who;
      for (const auto& ref : next.pending)
        who.push_back(std::ranges::find(refs, ref) - refs.begin());
      for (auto& worker : who) ++worker;  // the driver's would be 0
      log(LogLevel::warning, "rollout worker {} has not reported for {:.10g} s; waiting on",
          fmt::join(who, ", "), waited);
    }
    pending = std::move(next.pending);
  }
}

void WorkerSet::set_weights(const Weights& weights) {
  if (local_) return local_->set_weights(weights);
  const auto ref = runtime_->put(weights);
  for (const auto& worker : remote_) {
    weights_sent_.push_back(worker.call<&RolloutWorker::set_weights>(ref));
  }
}

void WorkerSet::save(CheckpointData& out) const {
  std::vector<std::vector<std::byte>> states;
  if (local_) {
    states.push_back(local_->save_state());
  } else {
    std::vector<runtime::ObjectRef<std::vector<std::byte>>> refs;
    for (const auto& worker : remote_) refs.push_back(worker.call<&RolloutWorker::save_state>());
    states = runtime_->get(std::move(refs));
  }
  std::vector<ColumnSpec> columns;
  for (std::size_t i = 0; i < states.size(); ++i) {
    columns.push_back(
        {fmt::format("worker_{}", i), DType::uint8, {static_cast<std::int64_t>(states[i].size())}});
  }
  RecordBatch tensors(std::move(columns), 1);
  for (std::size_t i = 0; i < states.size(); ++i) {
    std::memcpy(tensors.data(i), states[i].data(), states[i].size());
  }
  out.add_tensors(kStateFile, tensors);
}

void WorkerSet::check_fits(const CheckpointData& in) const {
  const std::size_t saved = in.tensors(kStateFile).columns().size();
  if (saved == num_workers()) return;
  fail(ErrorKind::checkpoint, "the state of {} workers does not fit {} workers", saved,
       num_workers());
}

void WorkerSet::load(const CheckpointData& in) {
  check_fits(in);
  const RecordBatch tensors = in.tensors(kStateFile);
  std::vector<runtime::ObjectRef<void>> loaded;
  for (std::size_t i = 0; i < tensors.columns().size(); ++i) {
    const std::byte* begin = tensors.data(i);
    std::vector<std::byte> state(begin, begin + tensors.row_bytes(i));
    if (local_) {
      local_->load_state(state);
    } else {
      loaded.push_back(remote_[i].call<&RolloutWorker::load_state>(std::move(state)));
    }
  }
  if (!loaded.empty()) runtime_->get(loaded);
}

}  // namespace knurl
