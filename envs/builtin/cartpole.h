#pragma once

#include "knurl/envs/builtin/state_env.h"

namespace knurl {

/// Position in m, velocity in m/s, angle from upright in rad, angular velocity in rad/s.
struct CartPoleState {
  double x = 0.0;
  double x_dot = 0.0;
  double theta = 0.0;
  double theta_dot = 0.0;
};

/// A cart on a track carries a pole; push left (0) or right (1) to keep it up. Reward 1 a step, the
/// last one included. The equations and constants of Gymnasium's CartPole-v1 (Barto, Sutton and
/// Anderson 1983), in double, observations as float32.
class CartPole final : public StateEnv<CartPoleState> {
 public:
  struct Config {
    bool sutton_barto_reward = false;
    static void fields(auto& self, auto&& field) {
      field("sutton_barto_reward", self.sutton_barto_reward,
            "reward 0 a step and -1 at the fall, instead of 1 a step");
    }
  };

  explicit CartPole(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  void observe(ObservationOut observation) const;

  Config config_;
};

}  // namespace knurl
