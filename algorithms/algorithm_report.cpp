#include <algorithm>
#include <cstring>

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/rollout/evaluation.h"
#include "knurl/core/base/error.h"

namespace knurl {
namespace {

/// Writes plain values into a row of a space of one leaf. Throws Error(config) where they do not
/// fit.
void write_observation(const ObservationValue& value, const Row& row) {
  const SpaceLayout& layout = row.layout();
  const auto refuse = [&](const std::string& what) {
    fail(ErrorKind::config, "an observation of {} is not {}", layout.space().text(), what);
  };
  if (layout.leaves().size() != 1) refuse("one plain value");
  const Leaf& leaf = layout.leaves().front();
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    if (!leaf.space.as<Discrete>()) refuse("a single whole number");
    row.as<std::int64_t>()[0] = *number;
    return;
  }
  const auto& numbers = std::get<std::vector<float>>(value);
  if (leaf.space.as<Discrete>() || static_cast<std::int64_t>(numbers.size()) != leaf.size()) {
    refuse(fmt::format("a list of {} numbers", numbers.size()));
  }
  visit(leaf.dtype, [&]<class T>(T*) {
    std::ranges::transform(numbers, row.as<T>().begin(), [](float x) { return static_cast<T>(x); });
  });
}

ActionValue read_action(const ConstRow& row) {
  const Leaf& leaf = row.layout().leaves().front();
  if (leaf.space.as<Discrete>()) return row.as<std::int64_t>()[0];
  std::vector<float> out;
  visit(leaf.dtype, [&]<class T>(T*) {
    for (const T x : row.as<T>()) out.push_back(static_cast<float>(x));
  });
  return out;
}

}  // namespace

ActionValue Algorithm::compute_single_action(const ObservationValue& observation, bool explore) {
  return compute_actions({{"", observation}}, explore).at("");
}

std::map<std::string, ActionValue> Algorithm::compute_actions(
    const std::map<std::string, ObservationValue>& observations, bool explore) {
  const auto rows = static_cast<std::int64_t>(observations.size());
  RecordBatch batch(observations_.columns("obs"), rows);
  const Rows all(observations_, batch, "obs");
  std::int64_t at = 0;
  for (const auto& [id, observation] : observations) {
    write_observation(observation, Row(all, at++));
    const std::string wrong = violation(ConstRow(ConstRows(all), at - 1));
    if (!wrong.empty()) fail(ErrorKind::config, "observation {}: {}", id, wrong);
  }
  Policy& policy = explore ? *exploring_policy_ : *greedy_policy_;
  policy.set_weights(learner_weights());
  policy.exploration().set_timestep(counters_.env_steps_sampled);
  std::vector<Rng> rngs;
  for (std::int64_t i = 0; i < rows; ++i) rngs.emplace_back(action_rng_());
  const PolicyOutput output = policy.act({.observations = all, .rows = rows, .rngs = rngs});
  std::map<std::string, ActionValue> out;
  at = 0;
  for (const auto& [id, observation] : observations) {
    out.emplace(id, read_action(ConstRow(output.env_actions, at++)));
  }
  return out;
}

void Algorithm::report_episodes(Result& result) const {
  std::vector<double> returns;
  std::vector<double> lengths;
  for (const EpisodeSummary& episode : window_) {
    returns.push_back(episode.episode_return);
    lengths.push_back(static_cast<double>(episode.length));
  }
  const auto number = [&](double value) -> Result::Value {
    return window_.empty() ? Result::Value(Result::Nothing{}) : Result::Value(value);
  };
  const Spread spread = spread_of(returns);
  result.set("episode_reward_mean", number(spread.mean));
  result.set("episode_reward_min", number(spread.min));
  result.set("episode_reward_max", number(spread.max));
  result.set("episode_len_mean", number(spread_of(lengths).mean));
  result.set("episodes_this_iter", episodes_this_iter_);
  result.set("episodes_total", counters_.episodes);
  result.set("num_faulty_episodes", 0);
  for (std::size_t k = 0; k < env_spec_.info.size(); ++k) {
    std::vector<double> values;
    for (const EpisodeSummary& episode : window_) values.push_back(episode.info.at(k));
    const Spread info = spread_of(values);
    const std::string name = "custom_metrics/" + env_spec_.info[k];
    result.set(name + "_mean", number(info.mean));
    result.set(name + "_min", number(info.min));
    result.set(name + "_max", number(info.max));
  }
  result.set("policy_reward_mean/default_policy", number(spread.mean));
  result.set("policy_reward_min/default_policy", number(spread.min));
  result.set("policy_reward_max/default_policy", number(spread.max));
  result.set("hist_stats/episode_reward", returns);
  result.set("hist_stats/episode_lengths", lengths);
}

void Algorithm::report_counters(Result& result, const Counters& before, double elapsed) const {
  const Counters& now = counters_;
  const std::int64_t sampled = now.env_steps_sampled - before.env_steps_sampled;
  const std::int64_t trained = now.env_steps_trained - before.env_steps_trained;
  for (const char* who : {"num_env_steps", "num_agent_steps"}) {  // one agent: the same
    result.set(fmt::format("{}_sampled", who), now.env_steps_sampled);
    result.set(fmt::format("{}_trained", who), now.env_steps_trained);
  }
  result.set("num_env_steps_sampled_this_iter", sampled);
  result.set("num_env_steps_trained_this_iter", trained);
  result.set("num_env_steps_sampled_throughput_per_sec", static_cast<double>(sampled) / elapsed);
  result.set("num_env_steps_trained_throughput_per_sec", static_cast<double>(trained) / elapsed);
  result.set("num_steps_trained_this_iter", trained);
  result.set("timesteps_total", now.env_steps_sampled);
  result.set("agent_timesteps_total", now.env_steps_sampled);
  result.set("num_healthy_workers", config_->common().rollouts.num_rollout_workers.value());
  result.set("num_in_flight_async_reqs", 0);
  result.set("num_remote_worker_restarts", 0);
  result.set("training_iteration", now.iteration);
  result.set("time_this_iter_s", elapsed);
  result.set("time_total_s", now.time_total_s);
  result.set("time_since_restore", now.time_total_s - at_restore_.time_total_s);
  result.set("iterations_since_restore", now.iteration - at_restore_.iteration);
  result.set("timesteps_since_restore", now.env_steps_sampled - at_restore_.env_steps_sampled);
  result.set("info/learner/default_policy/num_agent_steps_trained", trained);
  result.set("info/learner/default_policy/num_grad_updates_lifetime", learner_weights().version);
}

void Algorithm::report_timers(Result& result, double elapsed) const {
  const double trained = result.number("num_env_steps_trained_this_iter").value_or(0.0);
  result.set("timers/training_iteration_time_ms", 1e3 * elapsed);
  result.set("timers/sample_time_ms", 1e3 * timers_.sample);
  result.set("timers/learn_time_ms", 1e3 * timers_.learn);
  result.set("timers/learn_throughput", timers_.learn > 0.0 ? trained / timers_.learn : 0.0);
  result.set("timers/synch_weights_time_ms", 1e3 * timers_.share);
  result.set("sampler_perf/mean_inference_ms", 1e3 * timers_.inference);
  result.set("sampler_perf/mean_env_wait_ms", 1e3 * timers_.env);
}

MetricNames common_metrics() {
  return MetricNames({
      {"episode_reward_mean",
       {"sampler_results/episode_reward_mean", "env_runners/episode_return_mean",
        "env_runners/episode_reward_mean"},
       "mean return of the episodes in the window: the env's own rewards, summed"},
      {"episode_reward_min",
       {"sampler_results/episode_reward_min", "env_runners/episode_return_min"},
       "least return of the episodes in the window"},
      {"episode_reward_max",
       {"sampler_results/episode_reward_max", "env_runners/episode_return_max"},
       "largest return of the episodes in the window"},
      {"episode_len_mean",
       {"sampler_results/episode_len_mean", "env_runners/episode_len_mean"},
       "mean length of the episodes in the window, in env steps"},
      {"episodes_this_iter",
       {"sampler_results/episodes_this_iter", "env_runners/num_episodes"},
       "episodes that ended in this iteration"},
      {"episodes_total", {"env_runners/num_episodes_lifetime"}, "episodes that have ended"},
      {"num_faulty_episodes", {}, "episodes broken off because their env failed"},
      {"custom_metrics/*", {}, "mean, min and max of the env's info numbers at episode ends"},
      {"policy_reward_mean/*", {}, "mean return of each policy's agents"},
      {"policy_reward_min/*", {}, "least return of each policy's agents"},
      {"policy_reward_max/*", {}, "largest return of each policy's agents"},
      {"hist_stats/*", {}, "returns and lengths of the episodes in the window"},
      {"num_env_steps_sampled",
       {"num_env_steps_sampled_lifetime", "env_runners/num_env_steps_sampled_lifetime",
        "counters/num_env_steps_sampled"},
       "env steps taken"},
      {"num_env_steps_trained",
       {"num_env_steps_trained_lifetime", "learners/num_env_steps_trained_lifetime",
        "counters/num_env_steps_trained"},
       "env steps learnt from"},
      {"num_agent_steps_sampled",
       {"num_agent_steps_sampled_lifetime", "counters/num_agent_steps_sampled"},
       "steps of agents taken"},
      {"num_agent_steps_trained",
       {"num_agent_steps_trained_lifetime", "counters/num_agent_steps_trained"},
       "steps of agents learnt from"},
      {"num_env_steps_sampled_this_iter",
       {"env_runners/num_env_steps_sampled"},
       "env steps taken in this iteration"},
      {"num_env_steps_trained_this_iter", {}, "env steps learnt from in this iteration"},
      {"num_env_steps_sampled_throughput_per_sec", {}, "env steps taken a second"},
      {"num_env_steps_trained_throughput_per_sec", {}, "env steps learnt from a second"},
      {"num_steps_trained_this_iter", {}, "env steps learnt from in this iteration"},
      {"timesteps_total", {}, "env steps taken"},
      {"agent_timesteps_total", {}, "steps of agents taken"},
      {"num_healthy_workers", {"num_healthy_env_runners"}, "rollout workers that answer"},
      {"num_in_flight_async_reqs", {}, "requests to workers that are under way"},
      {"num_remote_worker_restarts", {}, "rollout workers that had to be started again"},
      {"training_iteration", {}, "iterations done"},
      {"time_this_iter_s", {}, "seconds this iteration took"},
      {"time_total_s", {}, "seconds of training, earlier runs that it goes on from included"},
      {"time_since_restore", {}, "seconds of training since the run was started or resumed"},
      {"iterations_since_restore", {}, "iterations since the run was started or resumed"},
      {"timesteps_since_restore", {}, "env steps since the run was started or resumed"},
      {"timers/*", {}, "milliseconds of this iteration by what they went into"},
      {"sampler_perf/*", {}, "milliseconds of this iteration in inference and in envs"},
      {"info/learner/*", {"learners/*"}, "what the learner reports"},
      {"evaluation/*", {}, "the same of evaluation episodes"},
  });
}

}  // namespace knurl
