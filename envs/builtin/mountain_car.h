#pragma once

#include "knurl/envs/builtin/state_env.h"

namespace knurl {

/// Position along the valley, velocity in positions a step.
struct MountainCarState {
  double position = 0.0;
  double velocity = 0.0;
};

/// A car in a valley is too weak to drive up the hill; rock back and forth to reach the flag at
/// 0.5. Actions: 0 push left, 1 do not push, 2 push right. Reward -1 a step, the last one included.
/// The equations and constants of Gymnasium's MountainCar-v0 (Moore 1990), in double, bit for bit;
/// observations as float32.
class MountainCar final : public StateEnv<MountainCarState> {
 public:
  struct Config {
    double goal_velocity = 0.0;
    static void fields(auto& self, auto&& field) {
      field("goal_velocity", self.goal_velocity, "least velocity at which the flag counts",
            Range{0.0, 0.07});
    }
  };

  explicit MountainCar(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  /// The valley as a curve of dots with the car `#` and the flag `P`.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  Config config_;
};

/// The valley of the mountain cars as text and as a picture.
std::string render_valley(const MountainCarState& state, double goal_position);
Image picture_of_valley(const MountainCarState& state, double goal_position);

}  // namespace knurl
