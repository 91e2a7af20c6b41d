#include "knurl/algorithms/rollout/evaluation_set.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "knurl/core/base/log.h"
#include "knurl/core/config/yaml.h"

namespace knurl {
namespace {

/// Envs of all workers together.
std::int64_t envs_of(const EvaluationOptions& options, int envs_per_worker) {
  const std::int64_t workers = std::max(1, options.evaluation_num_workers.value());
  const bool counted = !options.evaluation_duration->is_auto() &&
                       *options.evaluation_duration_unit == EvaluationUnit::episodes;
  if (!counted) return workers * envs_per_worker;
  const std::int64_t episodes = *options.evaluation_duration->value;
  return std::max<std::int64_t>(evaluation_envs(episodes), std::min(workers, episodes));
}

}  // namespace

EvaluationSet::EvaluationSet(const AlgorithmConfig& config)
    : duration_(*config.common().evaluation.evaluation_duration),
      unit_(*config.common().evaluation.evaluation_duration_unit),
      patience_(patience_of(config.common().evaluation.evaluation_sample_timeout_s)) {
  const EvaluationOptions& options = config.common().evaluation;
  const auto evaluated = config.for_evaluation();
  envs_ = envs_of(options, evaluated->common().rollouts.num_envs_per_worker);
  const std::int64_t workers = std::min<std::int64_t>(options.evaluation_num_workers, envs_);
  ConfigValue all = evaluated->to_value();
  all["num_rollout_workers"] = ConfigValue::of(0);  // exploration must not look at their number
  const auto spec = [&](std::int64_t worker, std::int64_t first, std::int64_t end) {
    return RolloutWorkerSpec{.algorithm = std::string(config.algorithm()),
                             .config = to_yaml(all),
                             .worker = static_cast<int>(worker),
                             .num_envs = static_cast<int>(end - first),
                             .first_env = static_cast<int>(first),
                             .total_envs = static_cast<int>(envs_),
                             .stream = "evaluation",
                             .acting = config.evaluation_acting(),
                             .purpose = Purpose::evaluation};
  };
  if (workers == 0) {
    local_ = std::make_unique<EvaluationWorker>(spec(0, 0, envs_));
    return;
  }
  runtime_.emplace();
  std::vector<runtime::ObjectRef<int>> made;
  for (std::int64_t i = 0; i < workers; ++i) {
    remote_.push_back(runtime_->get().actor<EvaluationWorker>(
        runtime::ActorOptions{.name = fmt::format("evaluation worker {}", i + 1)},
        spec(i + 1, i * envs_ / workers, (i + 1) * envs_ / workers)));
    made.push_back(remote_.back().call<&EvaluationWorker::num_envs>());
  }
  runtime_->get().get(std::move(made));  // an env that cannot be made is an error now
}

EvaluationSet::~EvaluationSet() {
  try {
    let_go();
  } catch (const std::exception& error) {
    log(LogLevel::warning, "an evaluation could not be ended: {}", error.what());
  }
}

void EvaluationSet::let_go() {
  if (line_) line_.call<&FinishLine::cross>();
  line_ = {};
}

void EvaluationSet::start(const Weights& weights, EvaluationStart start) {
  if (!duration_.is_auto() && unit_ == EvaluationUnit::episodes) start.episodes = *duration_.value;
  if (local_) return local_->begin(weights, start);
  let_go();  // of one whose training failed
  begun_.clear();
  const auto ref = runtime_->get().put(weights);
  for (const auto& worker : remote_) {
    begun_.push_back(worker.call<&EvaluationWorker::begin>(ref, start));
  }
  asked_.clear();
  if (!duration_.is_auto()) {
    return ask(unit_ == EvaluationUnit::episodes ? *duration_.value : envs_);
  }
  line_ = runtime_->get().actor<FinishLine>(runtime::ActorOptions{.name = "evaluation's end"});
  for (const auto& worker : remote_) {
    asked_.push_back(worker.call<&EvaluationWorker::run_until>(line_));
  }
}

EvaluationSet::Episodes EvaluationSet::finish() {
  if (duration_.is_auto()) {
    runtime_->get().get(line_.call<&FinishLine::cross>());
    Episodes out = collect();
    line_ = {};
    return out;
  }
  if (unit_ == EvaluationUnit::timesteps) return run_steps(*duration_.value);
  return local_ ? local_->run(*duration_.value) : collect();
}

/// The least number of episodes, from the first on, that makes so many steps.
EvaluationSet::Episodes EvaluationSet::run_steps(std::int64_t steps) {
  Episodes out;
  std::int64_t taken = 0;
  for (std::int64_t end = envs_;; end += envs_) {
    if (!local_ && end > envs_) ask(end);  // start() asked for the first
    for (EpisodeSummary& episode : local_ ? local_->run(end) : collect()) {
      taken += episode.length;
      out.push_back(std::move(episode));
      if (taken >= steps) return out;
    }
  }
}

void EvaluationSet::ask(std::int64_t end) {
  for (const auto& worker : remote_) {
    asked_.push_back(worker.call<&EvaluationWorker::run>(end));
  }
}

EvaluationSet::Episodes EvaluationSet::collect() {
  runtime_->get().get(std::exchange(begun_, {}));
  wait_for_reports(runtime_->get(), asked_, patience_, "evaluation worker");
  Episodes out;
  for (Episodes& episodes : runtime_->get().get(std::exchange(asked_, {}))) {
    std::ranges::move(episodes, std::back_inserter(out));
  }
  std::ranges::sort(out, {}, &EpisodeSummary::episode);
  return out;
}

}  // namespace knurl
