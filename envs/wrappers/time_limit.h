#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "knurl/envs/wrappers/wrapper.h"

namespace knurl {

/// Truncates an episode at its `max_steps`th step. Both endings can come at once: an episode that
/// terminates on its last step is terminated and truncated, as in Gymnasium.
class TimeLimit final : public EnvWrapper {
 public:
  struct Config {
    std::optional<int> max_episode_steps;
    static void fields(auto& self, auto&& field) {
      field("max_episode_steps", self.max_episode_steps,
            "steps after which an episode is truncated", at_least(1));
    }
  };

  TimeLimit(std::unique_ptr<Env> inner, int max_steps)
      : EnvWrapper(std::move(inner)), max_steps_(max_steps) {}
  /// Throws Error(config) where the config has no limit.
  TimeLimit(std::unique_ptr<Env> inner, const Config& config)
      : TimeLimit(std::move(inner), limit_of(config)) {}

  [[nodiscard]] EnvSpec spec() const override {
    EnvSpec spec = EnvWrapper::spec();
    spec.max_episode_steps = max_steps_;
    return spec;
  }
  void reset(Rng& rng, ObservationOut observation) override {
    steps_ = 0;
    EnvWrapper::reset(rng, observation);
  }
  StepResult step(ActionView action, ObservationOut observation) override {
    StepResult result = EnvWrapper::step(action, observation);
    if (++steps_ >= max_steps_) result.truncated = true;
    return result;
  }
  void save(ByteWriter& out) const override {
    write(out, steps_);
    EnvWrapper::save(out);
  }
  void load(ByteReader& in, Rng& rng) override {
    steps_ = read<int>(in);
    EnvWrapper::load(in, rng);
  }

 private:
  static int limit_of(const Config& config) {
    if (!config.max_episode_steps) fail(ErrorKind::config, "max_episode_steps: is missing");
    return *config.max_episode_steps;
  }

  int max_steps_;
  int steps_ = 0;
};

}  // namespace knurl
