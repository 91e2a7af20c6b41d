#include "knurl/algorithms/metrics.h"

#include "knurl/algorithms/algorithm.h"
#include "knurl/algorithms/rollout/episode_metrics.h"

namespace knurl {
namespace {

constexpr MetricKind kCounter = MetricKind::counter;

/// What does not depend on env, policy and learner.
const std::vector<MetricInfo>& run_metrics() {
  // clang-format off
  static const std::vector<MetricInfo> metrics{
    {"episodes_this_iter", {"sampler_results/episodes_this_iter", "env_runners/num_episodes"}, "episodes that ended in this iteration"},
    {"episodes_total", {"env_runners/num_episodes_lifetime"}, "episodes that have ended", kCounter},
    {"num_faulty_episodes", {}, "episodes broken off because their env failed"},
    {"timesteps_total", {"num_env_steps_sampled_lifetime", "env_runners/num_env_steps_sampled_lifetime", "num_env_steps_sampled", "counters/num_env_steps_sampled"}, "env steps taken", kCounter},
    {"agent_timesteps_total", {"num_agent_steps_sampled_lifetime", "num_agent_steps_sampled", "counters/num_agent_steps_sampled"}, "steps of agents taken", kCounter},
    {"num_env_steps_sampled", {}, "env steps taken: timesteps_total under another name of RLlib's", kCounter},
    {"num_agent_steps_sampled", {}, "steps of agents taken: agent_timesteps_total under another name of RLlib's", kCounter},
    {"num_env_steps_trained", {"num_env_steps_trained_lifetime", "learners/num_env_steps_trained_lifetime", "counters/num_env_steps_trained"}, "env steps learnt from", kCounter},
    {"num_agent_steps_trained", {"num_agent_steps_trained_lifetime", "counters/num_agent_steps_trained"}, "steps of agents learnt from", kCounter},
    {"num_env_steps_sampled_this_iter", {"env_runners/num_env_steps_sampled"}, "env steps taken in this iteration"},
    {"num_env_steps_trained_this_iter", {}, "env steps learnt from in this iteration"},
    {"num_env_steps_sampled_throughput_per_sec", {}, "env steps taken a second"},
    {"num_env_steps_trained_throughput_per_sec", {}, "env steps learnt from a second"},
    {"num_steps_trained_this_iter", {}, "env steps learnt from in this iteration"},
    {"num_healthy_workers", {"num_healthy_env_runners"}, "rollout workers that answer"},
    {"num_in_flight_async_reqs", {}, "requests to workers that are under way"},
    {"num_remote_worker_restarts", {}, "rollout workers that had to be started again"},
    {"training_iteration", {}, "iterations done", kCounter},
    {"time_this_iter_s", {}, "seconds this iteration took"},
    {"time_total_s", {}, "seconds of training, earlier runs that it goes on from included", kCounter},
    {"time_since_restore", {}, "seconds of training since the run was started or resumed"},
    {"iterations_since_restore", {}, "iterations since the run was started or resumed"},
    {"timesteps_since_restore", {}, "env steps since the run was started or resumed"},
    {"info/learner/default_policy/num_agent_steps_trained", {}, "steps of the policy's agents learnt from in this iteration"},
    {"info/learner/default_policy/num_grad_updates_lifetime", {}, "changes of the policy's parameters", kCounter},
    {"timers/training_iteration_time_ms", {}, "milliseconds that the iteration took"},
    {"timers/sample_time_ms", {}, "milliseconds of the iteration that went into sampling"},
    {"timers/env_time_ms", {}, "milliseconds of sampling that went into the envs, of each round's slowest worker"},
    {"timers/inference_time_ms", {}, "milliseconds of sampling that went into the policy, of each round's slowest worker"},
    {"timers/transport_time_ms", {}, "milliseconds of sampling that went into calling workers and waiting for what they send"},
    {"timers/learn_time_ms", {}, "milliseconds of the iteration that went into learning"},
    {"timers/learn_throughput", {}, "env steps learnt from a second of learning"},
    {"timers/synch_weights_time_ms", {}, "milliseconds of the iteration that went into handing out weights"},
    {"sampler_perf/mean_inference_ms", {}, "milliseconds that a worker's policy takes for one step of all its envs"},
    {"sampler_perf/mean_env_wait_ms", {}, "milliseconds that a worker's envs take for one step of all of them"},
    {"perf/cpu_util_percent", {}, "how busy the machine's CPUs were in this iteration"},
    {"perf/ram_util_percent", {}, "how much of the machine's memory is in use"},
  };
  // clang-format on
  return metrics;
}

}  // namespace

MetricNames metric_names(const AlgorithmConfig& config, const EnvSpec& env) {
  const auto& callbacks = *config.common().callbacks.callbacks;
  const std::vector<std::string> custom =
      callbacks ? find_callbacks(*callbacks).custom_metrics : std::vector<std::string>();
  std::vector<MetricInfo> out = episode_metric_infos(env.info, custom);
  const auto append = [&](std::vector<MetricInfo> more) {
    for (MetricInfo& metric : more) out.push_back(std::move(metric));
  };
  append(run_metrics());
  for (MetricInfo& metric : config.learner_metrics()) {
    std::vector<std::string> aliases{"learners/default_policy/" + metric.name};
    for (const std::string& alias : metric.aliases) {
      aliases.push_back("learners/default_policy/" + alias);
    }
    out.push_back({.name = "info/learner/default_policy/learner_stats/" + metric.name,
                   .aliases = std::move(aliases),
                   .sentence = std::move(metric.sentence),
                   .kind = metric.kind});
  }
  if (config.evaluation_interval()) {
    append(episode_metric_infos(evaluation_env_spec(config, env).info, custom, "evaluation/"));
    append({{"evaluation/episodes_this_iter",
             {"evaluation/env_runners/num_episodes"},
             "episodes of the evaluation"}});
    append({{"evaluation/timesteps_this_iter", {}, "env steps of the evaluation's episodes"}});
  }
  return MetricNames(std::move(out), "episode_reward_mean");
}

}  // namespace knurl
