#include <algorithm>

#include "knurl/algorithms/algorithm.h"

namespace knurl {

void Algorithm::count_round(const std::vector<Fragment>& round, double seconds) {
  SampleTimes slowest;
  for (const Fragment& fragment : round) {
    timers_.workers.steps += fragment.times.steps;
    timers_.workers.inference += fragment.times.inference;
    timers_.workers.env += fragment.times.env;
    if (fragment.times.total > slowest.total) slowest = fragment.times;
  }
  timers_.env += slowest.env;
  timers_.inference += slowest.inference;
  timers_.transport += std::max(0.0, seconds - slowest.total);
}

void Algorithm::report_counters(Result& result, const Counters& before, double elapsed) {
  const Counters& now = counters_;
  const std::int64_t sampled = now.env_steps_sampled - before.env_steps_sampled;
  const std::int64_t trained = now.env_steps_trained - before.env_steps_trained;
  result.set("episodes_this_iter", episodes_this_iter_);
  result.set("episodes_total", now.episodes);
  result.set("num_faulty_episodes", 0);                           // an env that fails ends the run
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
  result.set("num_in_flight_async_reqs", 0);    // sampling is synchronous
  result.set("num_remote_worker_restarts", 0);  // a worker that fails ends the run
  result.set("training_iteration", now.iteration);
  result.set("time_this_iter_s", elapsed);
  result.set("time_total_s", now.time_total_s);
  result.set("time_since_restore", now.time_total_s - at_restore_.time_total_s);
  result.set("iterations_since_restore", now.iteration - at_restore_.iteration);
  result.set("timesteps_since_restore", now.env_steps_sampled - at_restore_.env_steps_sampled);
  result.set("info/learner/default_policy/num_agent_steps_trained", trained);
  result.set("info/learner/default_policy/num_grad_updates_lifetime", learner().version());
}

void Algorithm::report_timers(Result& result, double elapsed) const {
  const double trained = result.number("num_env_steps_trained_this_iter").value_or(0.0);
  result.set("timers/training_iteration_time_ms", 1e3 * elapsed);
  result.set("timers/sample_time_ms", 1e3 * timers_.sample);
  result.set("timers/env_time_ms", 1e3 * timers_.env);
  result.set("timers/inference_time_ms", 1e3 * timers_.inference);
  result.set("timers/transport_time_ms", 1e3 * timers_.transport);
  result.set("timers/learn_time_ms", 1e3 * timers_.learn);
  result.set("timers/learn_throughput", timers_.learn > 0.0 ? trained / timers_.learn : 0.0);
  result.set("timers/synch_weights_time_ms", 1e3 * timers_.share);
  const auto steps = static_cast<double>(std::max<std::int64_t>(timers_.workers.steps, 1));
  result.set("sampler_perf/mean_inference_ms", 1e3 * timers_.workers.inference / steps);
  result.set("sampler_perf/mean_env_wait_ms", 1e3 * timers_.workers.env / steps);
}

}  // namespace knurl
