#include "knurl/algorithms/rollout/evaluation.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace knurl {

int evaluation_envs(std::int64_t num_episodes) {
  constexpr std::int64_t kMost = 16;
  return static_cast<int>(std::clamp<std::int64_t>(num_episodes, 1, kMost));
}

std::vector<EpisodeSummary> run_episodes(
    RolloutWorker& worker, std::int64_t num_episodes,
    const std::function<void(const EpisodeSummary&)>& on_episode) {
  constexpr std::int64_t kStepsAtOnce = 16;
  std::vector<std::optional<EpisodeSummary>> done(static_cast<std::size_t>(num_episodes));
  std::size_t reported = 0;
  while (reported < done.size()) {
    for (EpisodeSummary& episode : worker.sample({.steps_per_env = kStepsAtOnce}).episodes) {
      if (episode.episode < num_episodes) {
        done[static_cast<std::size_t>(episode.episode)] = std::move(episode);
      }
    }
    for (; reported < done.size() && done[reported]; ++reported) {
      if (on_episode) on_episode(*done[reported]);
    }
  }
  std::vector<EpisodeSummary> out;
  for (std::optional<EpisodeSummary>& episode : done) out.push_back(std::move(*episode));
  return out;
}

Spread spread_of(const std::vector<double>& numbers) {
  if (numbers.empty()) return {};
  const auto [min, max] = std::ranges::minmax(numbers);
  return {.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) /
                  static_cast<double>(numbers.size()),
          .min = min,
          .max = max};
}

}  // namespace knurl
