#include "knurl/algorithms/rollout/evaluation.h"

#include <algorithm>

#include "knurl/core/base/error.h"

namespace knurl {

int evaluation_envs(std::int64_t num_episodes) {
  constexpr std::int64_t kMost = 16;
  return static_cast<int>(std::clamp<std::int64_t>(num_episodes, 1, kMost));
}

std::int64_t EpisodeStream::upcoming() const {
  const std::int64_t envs = worker_.num_envs();
  return taken_ / envs * worker_.total_envs() + worker_.first_env() + taken_ % envs;
}

EpisodeSummary EpisodeStream::next() {
  constexpr std::int64_t kStepsAtOnce = 16;
  constexpr std::int64_t kMostSteps = 1'000'000;
  std::int64_t steps_without_end = 0;
  const std::int64_t wanted = upcoming();
  while (!ahead_.contains(wanted)) {
    if (runtime::stop_token().stop_requested()) throw CancelledError("the evaluation was ended");
    steps_without_end += kStepsAtOnce;
    Fragment fragment = worker_.sample({.steps_per_env = kStepsAtOnce, .timestep = timestep_});
    for (EpisodeSummary& episode : fragment.episodes) {
      ahead_.emplace(episode.episode, std::move(episode));
      steps_without_end = 0;
    }
    if (steps_without_end > kMostSteps) {
      fail(ErrorKind::env,
           "evaluation: no episode has ended in {} steps of each env; give "
           "env_config.max_episode_steps",
           kMostSteps);
    }
  }
  ++taken_;
  return std::move(ahead_.extract(wanted).mapped());
}

std::vector<EpisodeSummary> run_episodes(
    RolloutWorker& worker, const EvaluationRequest& request,
    const std::function<void(const EpisodeSummary&)>& on_episode) {
  EpisodeStream stream(worker, request.timestep);
  std::vector<EpisodeSummary> out;
  while (stream.upcoming() < request.episodes) {
    out.push_back(stream.next());
    if (on_episode) on_episode(out.back());
  }
  return out;
}

void EvaluationWorker::begin(const Weights& weights, const EvaluationStart& start) {
  worker_.restart(start.stream);
  std::string label = start.stream;
  std::ranges::replace(label, ' ', '_');
  worker_.record(start.directory, label, start.episodes);
  episodes_.emplace(worker_, start.timestep);
  worker_.set_weights(weights);
}

std::vector<EpisodeSummary> EvaluationWorker::run(std::int64_t end) {
  std::vector<EpisodeSummary> out;
  while (episodes_->upcoming() < end) out.push_back(episodes_->next());
  return out;
}

std::vector<EpisodeSummary> EvaluationWorker::run_until(
    const runtime::ActorHandle<FinishLine>& line) {
  const auto runtime = runtime::current_runtime();
  std::vector<EpisodeSummary> out;
  do {
    for (int env = 0; env < num_envs(); ++env) out.push_back(episodes_->next());
  } while (!runtime.get(line.call<&FinishLine::crossed>()));
  return out;
}

}  // namespace knurl
