#pragma once

#include "knurl/envs/builtin/mountain_car.h"

namespace knurl {

/// Position and velocity as MountainCarState has them.
struct MountainCarContinuousState {
  MountainCarState car = {};
  bool drawn = true;  ///< by reset, in double; a step leaves numbers that float32 holds
};

/// The mountain car with an engine that pushes with any force in [-1, 1] (beyond is cut off). The
/// flag stands at 0.45. Reward 100 at the flag, and -0.1 times the square of the action each step.
/// The equations and constants of Gymnasium's MountainCarContinuous-v0, bit for bit: like the
/// reference it keeps its state as float32 between steps.
class MountainCarContinuous final : public StateEnv<MountainCarContinuousState> {
 public:
  struct Config {
    double goal_velocity = 0.0;
    static void fields(auto& self, auto&& field) {
      field("goal_velocity", self.goal_velocity, "least velocity at which the flag counts",
            Range{0.0, 0.07});
    }
  };

  explicit MountainCarContinuous(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  /// As MountainCar's.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  void observe(ObservationOut observation) const;

  Config config_;
};

}  // namespace knurl
