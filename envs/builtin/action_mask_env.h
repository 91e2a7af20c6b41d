#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "knurl/envs/builtin/random_env.h"

namespace knurl {

/// A RandomEnv whose observations say which actions are allowed, others at each step: a Dict of
/// "action_mask", a 0 or 1 for each action, and "observations". An action that is not allowed ends
/// the episode with reward -1, or is an error. As RLlib's ActionMaskEnv, which knows errors only
/// and sometimes allows no action.
class ActionMaskEnv final : public Env {
 public:
  struct Config {
    Space observation_space = Box{.shape = {5}, .low = -1.0, .high = 1.0};
    Space action_space = Discrete{.n = 10};
    double p_terminated = 0.1;
    std::optional<int> max_episode_len = std::nullopt;
    bool strict = false;
    static void fields(auto& self, auto&& field) {
      field("observation_space", self.observation_space, "what \"observations\" is drawn from");
      field("action_space", self.action_space, "a Discrete: what actions can be");
      field("p_terminated", self.p_terminated, "probability of each step to be the last",
            Range{0.0, 1.0}, Aliases{{"p_done"}});
      field("max_episode_len", self.max_episode_len,
            "steps after which an episode is truncated; null or 0: none", at_least(0));
      field("strict", self.strict, "an action that is not allowed is an error");
    }
  };

  /// Throws Error(config) where actions are no Discrete.
  explicit ActionMaskEnv(const Config& config);

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  [[nodiscard]] bool can_save() const override { return true; }
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;
  /// The actions that are allowed: "0101".
  [[nodiscard]] std::string render() const override;

 private:
  void show_mask(Rng& rng, ObservationOut observation);

  bool strict_;
  RandomEnv world_;
  std::size_t mask_leaf_ = 0;
  Rng* rng_ = nullptr;
  std::vector<std::uint8_t> allowed_;
};

}  // namespace knurl
