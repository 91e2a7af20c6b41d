#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "knurl/algorithms/rollout/rollout_worker.h"

namespace knurl {

/// How many envs `num_episodes` episodes are spread over.
int evaluation_envs(std::int64_t num_episodes);

/// What an evaluation is asked for.
struct EvaluationRequest {
  std::int64_t episodes = 1;
  std::int64_t timestep = 0;  ///< env steps that the run has taken, for exploration schedules
};

/// Runs exactly the episodes 0 … request.episodes - 1 of the worker's stream, however many envs
/// share them: each env has its share fixed in advance, so that short episodes do not crowd out
/// long ones. Calls `on_episode` for each in order of its number; returns them in that order.
/// Throws Error(env) where no episode ends in a million steps of each env.
std::vector<EpisodeSummary> run_episodes(
    RolloutWorker& worker, const EvaluationRequest& request,
    const std::function<void(const EpisodeSummary&)>& on_episode = {});

}  // namespace knurl
