#pragma once

#include <optional>

#include "knurl/core/spaces/layout.h"
#include "knurl/core/spaces/space_config.h"
#include "knurl/envs/env.h"

namespace knurl {

/// A world of noise with any spaces: observations and rewards are drawn from theirs, whatever is
/// done. For trying what happens around an env: shapes, memory, speed. As RLlib's RandomEnv.
class RandomEnv final : public Env {
 public:
  struct Config {
    Space observation_space = Discrete{.n = 2};
    Space action_space = Discrete{.n = 2};
    Space reward_space = Box{.shape = {}, .low = -1.0, .high = 1.0};
    double p_terminated = 0.1;
    std::optional<int> max_episode_len = std::nullopt;
    bool static_samples = false;
    bool check_action_bounds = false;
    static void fields(auto& self, auto&& field) {
      field("observation_space", self.observation_space, "what observations are drawn from");
      field("action_space", self.action_space, "what actions can be");
      field("reward_space", self.reward_space, "what rewards are drawn from: one number");
      field("p_terminated", self.p_terminated, "probability of each step to be the last",
            Range{0.0, 1.0}, Aliases{{"p_done"}});
      field("max_episode_len", self.max_episode_len,
            "steps after which an episode is truncated; null or 0: none", at_least(0));
      field("static_samples", self.static_samples,
            "one observation and one reward for ever, the same in every env");
      field("check_action_bounds", self.check_action_bounds,
            "an action outside the action space is an error");
    }
  };

  /// Throws Error(config) where rewards would not be numbers.
  explicit RandomEnv(Config config);

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  [[nodiscard]] bool can_save() const override { return true; }
  void save(ByteWriter& out) const override { write(out, steps_); }
  void load(ByteReader& in, Rng& rng) override;
  /// The number of steps taken: there is nothing else.
  [[nodiscard]] std::string render() const override;

 private:
  void observe(ObservationOut observation);

  Config config_;
  SpaceLayout observations_;
  SpaceLayout rewards_;
  SpaceValue static_observation_;
  SpaceValue reward_;  ///< the last one drawn
  Rng* rng_ = nullptr;
  int steps_ = 0;
};

}  // namespace knurl
