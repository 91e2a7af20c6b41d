#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "knurl/algorithms/rollout/rollout_worker.h"

namespace knurl {

/// How many envs `num_episodes` episodes are spread over.
int evaluation_envs(std::int64_t num_episodes);

/// Runs exactly the episodes 0 … num_episodes - 1 of the worker's stream, however many envs share
/// them: each env has its share fixed in advance, so that short episodes do not crowd out long
/// ones. Calls `on_episode` for each in order of its number; returns them in that order.
std::vector<EpisodeSummary> run_episodes(
    RolloutWorker& worker, std::int64_t num_episodes,
    const std::function<void(const EpisodeSummary&)>& on_episode = {});

/// Mean, least and most of some numbers.
struct Spread {
  double mean = 0.0;
  double min = 0.0;
  double max = 0.0;
};
Spread spread_of(const std::vector<double>& numbers);

}  // namespace knurl
