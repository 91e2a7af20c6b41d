#pragma once

#include "knurl/envs/env.h"

namespace knurl {

/// Counts 0, 1, 2, …; terminates or is truncated after `length` steps. The reward is the count.
/// Breaks in ways that tests ask for.
class CounterEnv final : public Env {
 public:
  struct Config {
    int length = 4;
    bool truncate = false;
    int nan_reward_at = 0;       ///< step of an episode; 0: never
    int nan_observation_at = 0;  ///< the same
    int throw_at = 0;            ///< the same
    bool random_length = false;  ///< 1 or 100 steps, by chance
    static void fields(auto& self, auto&& field) {
      field("length", self.length, "steps of an episode", at_least(1));
      field("truncate", self.truncate, "end by truncation");
      field("nan_reward_at", self.nan_reward_at, "step with a NaN reward");
      field("nan_observation_at", self.nan_observation_at, "step with a NaN observation");
      field("throw_at", self.throw_at, "step that throws");
      field("random_length", self.random_length, "episodes of 1 or 100 steps");
    }
  };

  explicit CounterEnv(Config config) : config_(config), length_(config.length) {}

  [[nodiscard]] EnvSpec spec() const override {
    return {.observation = Box{.shape = {1}}, .action = Discrete{.n = 2}, .info = {"count"}};
  }
  void reset(Rng& rng, ObservationOut observation) override {
    count_ = 0;
    if (config_.random_length) length_ = rng.below(2) == 0 ? 1 : 100;
    observation[0] = 0.0F;
  }
  StepResult step(ActionView /*action*/, ObservationOut observation) override {
    ++count_;
    if (count_ == config_.throw_at) throw std::runtime_error("the counter broke");
    const float nan = std::numeric_limits<float>::quiet_NaN();
    observation[0] = count_ == config_.nan_observation_at ? nan : static_cast<float>(count_);
    const bool over = count_ >= length_;
    return {.reward = count_ == config_.nan_reward_at ? nan : static_cast<double>(count_),
            .terminated = over && !config_.truncate,
            .truncated = over && config_.truncate};
  }
  void info(std::span<double> numbers) const override { numbers[0] = count_; }

 private:
  Config config_;
  int length_;
  int count_ = 0;
};

}  // namespace knurl
