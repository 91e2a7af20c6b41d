#include "knurl/algorithms/rollout/episode_watch.h"

namespace knurl {

EpisodeWatch::EpisodeWatch(std::string callbacks, const Place& place, const VectorEnv& env)
    : name_(std::move(callbacks)),
      callbacks_(make_callbacks(name_)),
      place_(place),
      env_(env),
      custom_metrics_(static_cast<std::size_t>(env.num_envs())) {}

void EpisodeWatch::start(const ConstRows& observations) {
  for (int env = 0; env < env_.num_envs(); ++env) start_one(env, observations);
}

void EpisodeWatch::start_one(int env, const ConstRows& observations) {
  auto& custom_metrics = custom_metrics_[static_cast<std::size_t>(env)];
  custom_metrics.clear();
  EpisodeView episode{.purpose = place_.purpose,
                      .worker = place_.worker,
                      .env = place_.first_env + env,
                      .episode = env_.episode(env),
                      .observation = ConstRow(observations, env),
                      .custom_metrics = custom_metrics};
  tell("on_episode_start", &Callbacks::on_episode_start, episode);
}

void EpisodeWatch::step(const WatchedStep& step, std::span<EpisodeSummary> ended) {
  const std::size_t width = env_.spec().info.size();
  std::size_t next_ended = 0;
  for (int env = 0; env < env_.num_envs(); ++env) {
    const auto at = static_cast<std::size_t>(env);
    if (!step.active.empty() && step.active[at] == 0) continue;
    EpisodeSummary* over = nullptr;
    if (next_ended < ended.size() && ended[next_ended].env == place_.first_env + env) {
      over = &ended[next_ended++];
    }
    EpisodeView episode{
        .purpose = place_.purpose,
        .worker = place_.worker,
        .env = place_.first_env + env,
        .episode = over ? over->episode : env_.episode(env),
        .step = over ? over->length : env_.episode_length(env),
        .reward = static_cast<double>(step.rewards[at]),
        .observation = ConstRow(over ? step.final_observations : step.observations, env),
        .action = ConstRow(step.actions, env),
        .info = step.info.subspan(at * width, width),
        .ended = over,
        .custom_metrics = custom_metrics_[at]};
    tell("on_episode_step", &Callbacks::on_episode_step, episode);
    if (!over) continue;
    tell("on_episode_end", &Callbacks::on_episode_end, episode);
    over->custom_metrics = std::move(custom_metrics_[at]);
    start_one(env, step.observations);
  }
}

void EpisodeWatch::tell(const char* name, Method method, EpisodeView& episode) {
  const auto where = [&] {
    return fmt::format("callbacks {}: {} (worker {}, env {}, episode {}, step {})", name_, name,
                       place_.worker, episode.env, episode.episode, episode.step);
  };
  call_back(where, [&] { (*callbacks_.*method)(episode); });
}

void EpisodeWatch::sample_end(Fragment& fragment) {
  call_back(
      [&] { return fmt::format("callbacks {}: on_sample_end (worker {})", name_, place_.worker); },
      [&] { callbacks_->on_sample_end(fragment); });
}

void EpisodeWatch::set_numbers(Numbers numbers) {
  if (numbers.size() != custom_metrics_.size()) {
    fail(ErrorKind::checkpoint, "worker {}: numbers of callbacks in {} envs do not fit {}",
         place_.worker, numbers.size(), custom_metrics_.size());
  }
  custom_metrics_ = std::move(numbers);
}

}  // namespace knurl
