#include "knurl/algorithms/algorithm.h"

namespace knurl {
namespace {

constexpr MetricKind kCounter = MetricKind::counter;

/// Each metric once: its name in RLlib 2.9, its other names, what it says.
const std::vector<MetricInfo> kMetrics{
    {"episode_reward_mean", {"sampler_results/episode_reward_mean", "env_runners/episode_return_mean", "env_runners/episode_reward_mean"}, "mean return of the episodes in the window: the env's own rewards, summed"},
    {"episode_reward_min", {"sampler_results/episode_reward_min", "env_runners/episode_return_min"}, "least return of the episodes in the window"},
    {"episode_reward_max", {"sampler_results/episode_reward_max", "env_runners/episode_return_max"}, "largest return of the episodes in the window"},
    {"episode_len_mean", {"sampler_results/episode_len_mean", "env_runners/episode_len_mean"}, "mean length of the episodes in the window, in env steps"},
    {"episodes_this_iter", {"sampler_results/episodes_this_iter", "env_runners/num_episodes"}, "episodes that ended in this iteration"},
    {"episodes_total", {"env_runners/num_episodes_lifetime"}, "episodes that have ended", kCounter},
    {"num_faulty_episodes", {}, "episodes broken off because their env failed"},
    {"custom_metrics/*", {}, "mean, min and max of the env's info numbers at episode ends"},
    {"policy_reward_mean/*", {}, "mean return of each policy's agents"},
    {"policy_reward_min/*", {}, "least return of each policy's agents"},
    {"policy_reward_max/*", {}, "largest return of each policy's agents"},
    {"hist_stats/*", {}, "returns and lengths of the episodes in the window"},
    {"num_env_steps_sampled", {"num_env_steps_sampled_lifetime", "env_runners/num_env_steps_sampled_lifetime", "counters/num_env_steps_sampled"}, "env steps taken", kCounter},
    {"num_env_steps_trained", {"num_env_steps_trained_lifetime", "learners/num_env_steps_trained_lifetime", "counters/num_env_steps_trained"}, "env steps learnt from", kCounter},
    {"num_agent_steps_sampled", {"num_agent_steps_sampled_lifetime", "counters/num_agent_steps_sampled"}, "steps of agents taken", kCounter},
    {"num_agent_steps_trained", {"num_agent_steps_trained_lifetime", "counters/num_agent_steps_trained"}, "steps of agents learnt from", kCounter},
    {"num_env_steps_sampled_this_iter", {"env_runners/num_env_steps_sampled"}, "env steps taken in this iteration"},
    {"num_env_steps_trained_this_iter", {}, "env steps learnt from in this iteration"},
    {"num_env_steps_sampled_throughput_per_sec", {}, "env steps taken a second"},
    {"num_env_steps_trained_throughput_per_sec", {}, "env steps learnt from a second"},
    {"num_steps_trained_this_iter", {}, "env steps learnt from in this iteration"},
    {"timesteps_total", {}, "env steps taken", kCounter},
    {"agent_timesteps_total", {}, "steps of agents taken", kCounter},
    {"num_healthy_workers", {"num_healthy_env_runners"}, "rollout workers that answer"},
    {"num_in_flight_async_reqs", {}, "requests to workers that are under way"},
    {"num_remote_worker_restarts", {}, "rollout workers that had to be started again"},
    {"training_iteration", {}, "iterations done", kCounter},
    {"time_this_iter_s", {}, "seconds this iteration took"},
    {"time_total_s", {}, "seconds of training, earlier runs that it goes on from included", kCounter},
    {"time_since_restore", {}, "seconds of training since the run was started or resumed"},
    {"iterations_since_restore", {}, "iterations since the run was started or resumed"},
    {"timesteps_since_restore", {}, "env steps since the run was started or resumed"},
    {"timers/learn_throughput", {}, "env steps learnt from a second of learning"},
    {"timers/*", {}, "milliseconds of this iteration by what they went into"},
    {"sampler_perf/*", {}, "milliseconds that a worker's policy and envs take for one step of all its envs"},
    {"info/learner/*", {}, "what the learner reports"},
    {"evaluation/*", {}, "the same of evaluation episodes"},
};

}  // namespace

MetricNames common_metrics() { return MetricNames(kMetrics, "episode_reward_mean"); }

}  // namespace knurl
