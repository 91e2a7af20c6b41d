#include "knurl/algorithms/rollout/evaluation.h"

#include <algorithm>
#include <map>

#include "knurl/core/base/error.h"

namespace knurl {

int evaluation_envs(std::int64_t num_episodes) {
  constexpr std::int64_t kMost = 16;
  return static_cast<int>(std::clamp<std::int64_t>(num_episodes, 1, kMost));
}

std::vector<EpisodeSummary> run_episodes(
    RolloutWorker& worker, const EvaluationRequest& request,
    const std::function<void(const EpisodeSummary&)>& on_episode) {
  constexpr std::int64_t kStepsAtOnce = 16;
  constexpr std::int64_t kMostSteps = 1'000'000;
  std::map<std::int64_t, EpisodeSummary> ahead;  // ended before one with a lower number
  std::vector<EpisodeSummary> out;
  std::int64_t steps_without_end = 0;
  while (std::ssize(out) < request.episodes) {
    steps_without_end += kStepsAtOnce;
    Fragment fragment =
        worker.sample({.steps_per_env = kStepsAtOnce, .timestep = request.timestep});
    for (EpisodeSummary& episode : fragment.episodes) {
      if (episode.episode >= request.episodes) continue;  // beyond its env's share
      ahead.emplace(episode.episode, std::move(episode));
      steps_without_end = 0;
    }
    if (steps_without_end > kMostSteps) {
      fail(ErrorKind::env,
           "evaluation: no episode has ended in {} steps of each env; give "
           "env_config.max_episode_steps",
           kMostSteps);
    }
    while (!ahead.empty() && ahead.begin()->first == std::ssize(out)) {
      out.push_back(std::move(ahead.begin()->second));
      ahead.erase(ahead.begin());
      if (on_episode) on_episode(out.back());
    }
  }
  return out;
}

}  // namespace knurl
