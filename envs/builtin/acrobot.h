#pragma once

#include <array>
#include <string_view>
#include <utility>

#include "knurl/envs/builtin/state_env.h"

namespace knurl {

/// Angle of the first link from hanging down and of the second from the first, in rad; angular
/// velocities in rad/s.
struct AcrobotState {
  double theta1 = 0.0;
  double theta2 = 0.0;
  double theta1_dot = 0.0;
  double theta2_dot = 0.0;
};

/// Whose equations of motion: of Sutton and Barto's book, or of Sutton's NIPS paper of 1996, which
/// leaves out the centrifugal pull of the first link on the second.
enum class AcrobotDynamics { book, nips };

constexpr auto names(AcrobotDynamics) {
  return std::to_array<std::pair<AcrobotDynamics, std::string_view>>(
      {{AcrobotDynamics::book, "book"}, {AcrobotDynamics::nips, "nips"}});
}

/// Two links hang from a pivot; a motor at their joint swings the tip above a line one link over
/// the pivot. Actions: 0, 1, 2 for a torque of -1, 0, 1 N m. Reward -1 a step, and 0 for the one
/// that reaches the line. Observation: cosine and sine of both angles, and both velocities. The
/// equations, constants and Runge-Kutta steps of Gymnasium's Acrobot-v1, in double, observations as
/// float32: the same bits where the C library's cosines are.
class Acrobot final : public StateEnv<AcrobotState> {
 public:
  struct Config {
    AcrobotDynamics book_or_nips = AcrobotDynamics::book;
    static void fields(auto& self, auto&& field) {
      field("book_or_nips", self.book_or_nips, "whose equations of motion");
    }
  };

  explicit Acrobot(Config config) : config_(config) {}

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  /// The pivot `+`, the joint `o`, the tip `*` and the line to reach.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  void observe(ObservationOut observation) const;

  Config config_;
};

}  // namespace knurl
