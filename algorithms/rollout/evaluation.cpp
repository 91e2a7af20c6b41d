#include "knurl/algorithms/rollout/evaluation.h"

#include <algorithm>
#include <optional>

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
  std::vector<std::optional<EpisodeSummary>> ended(static_cast<std::size_t>(request.episodes));
  std::size_t reported = 0;
  std::int64_t steps_without_end = 0;
  while (reported < ended.size()) {
    steps_without_end += kStepsAtOnce;
    Fragment fragment =
        worker.sample({.steps_per_env = kStepsAtOnce, .timestep = request.timestep});
    for (EpisodeSummary& episode : fragment.episodes) {
      if (episode.episode >= request.episodes) continue;  // beyond its env's share
      ended[static_cast<std::size_t>(episode.episode)] = std::move(episode);
      steps_without_end = 0;
    }
    if (steps_without_end > kMostSteps) {
      fail(ErrorKind::env,
           "evaluation: no episode has ended in {} steps of each env; give "
           "env_config.max_episode_steps",
           kMostSteps);
    }
    for (; reported < ended.size() && ended[reported]; ++reported) {
      if (on_episode) on_episode(*ended[reported]);
    }
  }
  std::vector<EpisodeSummary> out;
  for (std::optional<EpisodeSummary>& episode : ended) out.push_back(std::move(*episode));
  return out;
}

}  // namespace knurl
