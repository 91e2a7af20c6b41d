#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "knurl/algorithms/rollout/rollout_worker.h"
#include "knurl/core/runtime/runtime.h"

namespace knurl {

/// How many envs `num_episodes` episodes are spread over.
int evaluation_envs(std::int64_t num_episodes);

/// The episodes of a worker's stream in order of their number: those of its envs. What an episode
/// is like depends on its number alone, however many envs and workers share the stream.
class EpisodeStream {
 public:
  /// `timestep` is the env steps that the run has taken, for exploration schedules.
  explicit EpisodeStream(RolloutWorker& worker, std::int64_t timestep = 0)
      : worker_(worker), timestep_(timestep) {}

  /// The number of the episode that next() returns.
  [[nodiscard]] std::int64_t upcoming() const;
  /// Steps the envs until that episode has ended. Throws Error(env) where no episode ends in a
  /// million steps of each env, and CancelledError where the runtime ends meanwhile.
  EpisodeSummary next();

 private:
  RolloutWorker& worker_;
  std::int64_t timestep_;
  std::int64_t taken_ = 0;
  std::map<std::int64_t, EpisodeSummary> ahead_;  ///< ended before one with a lower number
};

/// What an evaluation is asked for.
struct EvaluationRequest {
  std::int64_t episodes = 1;
  std::int64_t timestep = 0;  ///< env steps that the run has taken, for exploration schedules
};

/// Runs exactly the episodes 0 … request.episodes - 1 of the worker's stream, so that short ones do
/// not crowd out long ones. The worker has all envs of the stream. Calls `on_episode` for each in
/// order of its number; returns them in that order.
std::vector<EpisodeSummary> run_episodes(
    RolloutWorker& worker, const EvaluationRequest& request,
    const std::function<void(const EpisodeSummary&)>& on_episode = {});

/// Says when an evaluation that lasts as long as training is over. An actor.
class FinishLine {
 public:
  void cross() { crossed_ = true; }
  [[nodiscard]] bool crossed() const { return crossed_; }

 private:
  bool crossed_ = false;
};

/// What tells one evaluation from another.
struct EvaluationStart {
  std::string stream = {};                              ///< whose episodes are run
  std::int64_t timestep = 0;                            ///< env steps that the run has taken
  std::string directory = {};                           ///< of the run
  std::optional<std::int64_t> episodes = std::nullopt;  ///< how many are asked for, where known
};

/// Runs its envs' share of an evaluation's episodes. An actor, or used directly.
class EvaluationWorker {
 public:
  /// Throws as RolloutWorker.
  explicit EvaluationWorker(RolloutWorkerSpec spec) : worker_(std::move(spec)) {}

  /// Turns to the episodes of another evaluation.
  void begin(const Weights& weights, const EvaluationStart& start);
  /// Its next episodes, up to those with numbers below `end`.
  std::vector<EpisodeSummary> run(std::int64_t end);
  /// The same in rounds, one episode in each env at least, until the line is crossed.
  std::vector<EpisodeSummary> run_until(const runtime::ActorHandle<FinishLine>& line);
  [[nodiscard]] int num_envs() const { return worker_.num_envs(); }

 private:
  RolloutWorker worker_;
  std::optional<EpisodeStream> episodes_;
};

}  // namespace knurl
