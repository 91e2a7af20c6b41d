#include "knurl/algorithms/rollout/worker_set.h"

#include <algorithm>
#include <cstring>

#include "knurl/core/base/error.h"

namespace knurl {
namespace {

constexpr const char* kStateFile = "workers.safetensors";

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
  patience_ = patience_of(options.sample_timeout_s);
  runtime_.emplace();
  for (int worker = 1; worker <= workers; ++worker) {
    remote_.push_back(runtime_->get().actor<RolloutWorker>(
        runtime::ActorOptions{.name = fmt::format("rollout worker {}", worker)},
        spec(worker, (worker - 1) * envs)));
  }
  // an env that cannot be made is an error now, not at the first sample
  std::vector<runtime::ObjectRef<int>> made;
  for (const auto& worker : remote_) made.push_back(worker.call<&RolloutWorker::num_envs>());
  runtime_->get().get(std::move(made));
}

std::vector<Fragment> WorkerSet::sample(const SampleRequest& request) {
  std::vector<Fragment> fragments;
  if (local_) {
    fragments.push_back(local_->sample(request));
    return fragments;
  }
  std::vector<runtime::ObjectRef<Fragment>> refs;
  for (const auto& worker : remote_) refs.push_back(worker.call<&RolloutWorker::sample>(request));
  wait_for_reports(runtime_->get(), refs, patience_, "rollout worker");
  runtime_->get().get(weights_sent_);
  weights_sent_.clear();
  return runtime_->get().get(std::move(refs));
}

void WorkerSet::set_weights(const Weights& weights) {
  if (local_) return local_->set_weights(weights);
  const auto ref = runtime_->get().put(weights);
  for (const auto& worker : remote_) {
    weights_sent_.push_back(worker.call<&RolloutWorker::set_weights>(ref));
  }
}

void WorkerSet::record(const std::string& directory) {
  const std::string label = "training";
  if (local_) return local_->record(directory, label);
  std::vector<runtime::ObjectRef<void>> told;
  for (const auto& worker : remote_) {
    told.push_back(worker.call<&RolloutWorker::record>(directory, label, std::nullopt));
  }
  runtime_->get().get(told);
}

void WorkerSet::save(CheckpointData& out) const {
  std::vector<std::vector<std::byte>> states;
  if (local_) {
    states.push_back(local_->save_state());
  } else {
    std::vector<runtime::ObjectRef<std::vector<std::byte>>> refs;
    for (const auto& worker : remote_) refs.push_back(worker.call<&RolloutWorker::save_state>());
    states = runtime_->get().get(std::move(refs));
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
  if (!loaded.empty()) runtime_->get().get(loaded);
}

}  // namespace knurl
