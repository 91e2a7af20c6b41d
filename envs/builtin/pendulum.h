#pragma once

#include "knurl/envs/builtin/state_env.h"

namespace knurl {

/// Angle from upright in rad, angular velocity in rad/s.
struct PendulumState {
  double theta = 0.0;
  double theta_dot = 0.0;
};

/// A pendulum hangs from a motor that is too weak to lift it at once; swing it up and hold it. The
/// equations and constants of Gymnasium's Pendulum-v1, in double, observations as float32: cosine
/// and sine of the angle from upright, angular velocity. Reward from -16.27 to 0 a step.
class Pendulum final : public StateEnv<PendulumState> {
 public:
  struct Config {
    double g = 10.0;
    static void fields(auto& self, auto&& field) {
      field("g", self.g, "acceleration of gravity in m/s^2", Range{0.0, 1e3});
    }
  };

  explicit Pendulum(Config config) : gravity_(config.g) {}

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  void observe(ObservationOut observation) const;

  double gravity_;
};

}  // namespace knurl
