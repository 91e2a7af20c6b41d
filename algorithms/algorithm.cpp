#include "knurl/algorithms/algorithm.h"

#include <algorithm>
#include <cmath>

#include "knurl/algorithms/metrics.h"
#include "knurl/algorithms/rollout/episode_metrics.h"
#include "knurl/core/base/clock.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

void require_default(const std::string& policy_id) {
  if (policy_id == "default_policy") return;
  fail(ErrorKind::config, "policy {}: there is only default_policy", policy_id);
}

}  // namespace

Algorithm::Algorithm(std::unique_ptr<const AlgorithmConfig> resolved)
    : config_(std::move(resolved)) {
  const EnvironmentOptions& options = config_->common().environment;
  env_spec_ = make_env(*options.env, *options.env_config)->spec();
  config_->check_env(env_spec_);
  observations_ = SpaceLayout(env_spec_.observation);
  actions_ = SpaceLayout(env_spec_.action);
  names_ = knurl::metric_names(*config_, env_spec_);
  evaluation_info_ = evaluation_env_spec(*config_, env_spec_).info;
  callbacks_ = make_callbacks(*config_->common().callbacks.callbacks);
  workers_ = std::make_unique<WorkerSet>(*config_);
  set_directory(std::filesystem::path("results") /
                fmt::format("{}_{}", config_->algorithm(), *options.env));
  if (config_->evaluation_interval()) evaluation_ = std::make_unique<EvaluationSet>(*config_);
  greedy_.policy = config_->make_policy(env_spec_, Acting::greedy, {});
  exploring_.policy = config_->make_policy(env_spec_, Acting::exploring, {});
  if (options.normalize_rewards) {
    const NormalizeReward given = config_->run_wrappers().rewards.value_or(NormalizeReward());
    reward_filter_.emplace(given.gamma.value_or(config_->common().training.gamma), given.epsilon);
  }
  action_rng_ = run_rng().split("compute_actions");
}

Rng Algorithm::run_rng() const {
  return Rng(static_cast<std::uint64_t>(config_->common().debugging.seed->value_or(0)));
}

Result Algorithm::train() {
  if (!workers_) fail(ErrorKind::config, "train() after stop(): the workers are gone");
  const double start = steady_seconds();
  const Counters before = counters_;
  timers_ = {};
  episodes_this_iter_ = 0;
  if (!workers_have_weights_) share_weights();
  const bool evaluates_beside = config_->common().evaluation.evaluation_parallel_to_training &&
                                evaluation_due(counters_.iteration + 1);
  if (evaluates_beside) start_evaluation();

  try {
    do {
      training_step();
    } while (!iteration_done(before, start));
  } catch (...) {
    forget_waiting();
    if (reward_filter_) reward_filter_->forget_sums();
    throw;
  }
  ++counters_.iteration;

  const double elapsed = steady_seconds() - start;
  counters_.time_total_s += elapsed;
  Result result =
      episode_metrics(std::vector<EpisodeSummary>(window_.begin(), window_.end()), env_spec_.info);
  report_counters(result, before, elapsed);
  report_timers(result, elapsed);
  Result stats = learner().take_stats();
  report_own(stats);
  result.merge(stats, "info/learner/default_policy/learner_stats/");
  report_evaluation(result, evaluates_beside);
  tell("on_train_result", [&](Callbacks& c) { c.on_train_result(*this, result); });
  return result;
}

bool Algorithm::iteration_done(const Counters& before, double start) const {
  const ReportingOptions& options = config_->common().reporting;
  const std::int64_t sampled = counters_.env_steps_sampled - before.env_steps_sampled;
  const std::int64_t trained = counters_.env_steps_trained - before.env_steps_trained;
  const double elapsed = steady_seconds() - start;
  return sampled >= options.min_sample_timesteps_per_iteration &&
         trained >= options.min_train_timesteps_per_iteration &&
         elapsed >= options.min_time_s_per_iteration->value_or(0.0);
}

std::vector<Fragment> Algorithm::sample(std::int64_t min_steps) {
  const double start = steady_seconds();
  const CommonOptions& options = config_->common();
  const int length = options.rollouts.rollout_fragment_length->value.value();
  std::vector<Fragment> fragments;
  for (std::int64_t steps = 0; steps < min_steps;) {
    const double round_start = steady_seconds();
    auto round = workers_->sample({.steps_per_env = length,
                                   .timestep = counters_.env_steps_sampled + steps,
                                   .mode = options.rollouts.batch_mode});
    count_round(round, steady_seconds() - round_start);
    for (Fragment& fragment : round) {
      steps += fragment.env_steps;
      fragments.push_back(std::move(fragment));
    }
  }
  note_episodes(fragments);
  if (reward_filter_) reward_filter_->apply(fragments);
  timers_.sample += steady_seconds() - start;
  return fragments;
}

void Algorithm::note_episodes(const std::vector<Fragment>& fragments) {
  std::vector<EpisodeSummary> ended;
  for (const Fragment& fragment : fragments) {
    counters_.env_steps_sampled += fragment.env_steps;
    ended.insert(ended.end(), fragment.episodes.begin(), fragment.episodes.end());
  }
  // in the order in which they ended, whichever worker had them
  std::ranges::sort(ended, {},
                    [](const EpisodeSummary& e) { return std::pair(e.ended_at, e.env); });
  window_.insert(window_.end(), ended.begin(), ended.end());
  episodes_this_iter_ += static_cast<std::int64_t>(ended.size());
  counters_.episodes += static_cast<std::int64_t>(ended.size());
  // metrics cover this iteration's episodes, and at least the last so many
  const auto smoothing =
      static_cast<std::int64_t>(config_->common().reporting.metrics_num_episodes_for_smoothing);
  const auto keep = static_cast<std::size_t>(std::max(smoothing, episodes_this_iter_));
  while (window_.size() > keep) window_.pop_front();
}

void Algorithm::share_weights() {
  const double start = steady_seconds();
  workers_->set_weights(acting_weights());
  workers_have_weights_ = true;
  timers_.share += steady_seconds() - start;
}

void Algorithm::count_trained(std::int64_t env_steps, double seconds_taken) {
  counters_.env_steps_trained += env_steps;
  timers_.learn += seconds_taken;
  tell("on_learn_on_batch", [&](Callbacks& c) {
    c.on_learn_on_batch(*this, {.env_steps = env_steps, .seconds = seconds_taken});
  });
}

void Algorithm::set_directory(const std::filesystem::path& directory) {
  directory_ = directory;
  if (workers_ && config_->run_wrappers().recording) workers_->record(directory.string());
}

Policy& Algorithm::get_policy(const std::string& policy_id) {
  require_default(policy_id);
  return up_to_date(exploring_);
}

std::map<std::string, Weights> Algorithm::get_weights() {
  return {{"default_policy", learner().weights()}};
}

void Algorithm::set_weights(const std::map<std::string, Weights>& weights) {
  for (const auto& [policy_id, tensors] : weights) {
    require_default(policy_id);
    learner().set_weights(tensors);
  }
  greedy_.version.reset();  // versions of other learners' weights say nothing
  exploring_.version.reset();
  if (workers_) share_weights();
}

}  // namespace knurl
