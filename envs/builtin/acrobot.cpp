#include "knurl/envs/builtin/acrobot.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

constexpr double kPi = std::numbers::pi;
constexpr double kGravity = 9.8;  // m/s^2
constexpr double kMass = 1.0;     // kg, of each link
constexpr double kLength = 1.0;   // m, of each link
constexpr double kCentre = 0.5;   // m, from a link's upper end to its centre of mass
constexpr double kInertia = 1.0;  // kg m^2, of each link
constexpr double kMaxSpeed1 = 4.0 * kPi;
constexpr double kMaxSpeed2 = 9.0 * kPi;
constexpr double kTimeStep = 0.2;  // s

using Numbers = std::array<double, 4>;  // of an AcrobotState, or their rates of change

/// Rates of change (Sutton and Barto 2018, section on the acrobot; Sutton 1996).
Numbers rates(const Numbers& state, double torque, AcrobotDynamics dynamics) {
  const auto& [theta1, theta2, theta1_dot, theta2_dot] = state;
  const double cos2 = std::cos(theta2);
  const double sin2 = std::sin(theta2);
  const double lever = kMass * kLength * kCentre;
  const double d1 =
      kMass * kCentre * kCentre +
      kMass * (kLength * kLength + kCentre * kCentre + 2.0 * kLength * kCentre * cos2) + kInertia +
      kInertia;
  const double d2 = kMass * (kCentre * kCentre + kLength * kCentre * cos2) + kInertia;
  const double phi2 = kMass * kCentre * kGravity * std::cos(theta1 + theta2 - kPi / 2.0);
  const double phi1 =
      -lever * (theta2_dot * theta2_dot) * sin2 - 2.0 * lever * theta2_dot * theta1_dot * sin2 +
      (kMass * kCentre + kMass * kLength) * kGravity * std::cos(theta1 - kPi / 2.0) + phi2;
  double pull = torque + d2 / d1 * phi1;
  if (dynamics == AcrobotDynamics::book) pull -= lever * (theta1_dot * theta1_dot) * sin2;
  const double theta2_acc = (pull - phi2) / (kMass * kCentre * kCentre + kInertia - d2 * d2 / d1);
  const double theta1_acc = -(d2 * theta2_acc + phi1) / d1;
  return {theta1_dot, theta2_dot, theta1_acc, theta2_acc};
}

Numbers moved(const Numbers& from, double time, const Numbers& rate) {
  Numbers out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = from[i] + time * rate[i];
  return out;
}

/// A step of the classical Runge-Kutta method.
Numbers runge_kutta(const Numbers& from, double torque, AcrobotDynamics dynamics) {
  const double half = kTimeStep / 2.0;
  const Numbers k1 = rates(from, torque, dynamics);
  const Numbers k2 = rates(moved(from, half, k1), torque, dynamics);
  const Numbers k3 = rates(moved(from, half, k2), torque, dynamics);
  const Numbers k4 = rates(moved(from, kTimeStep, k3), torque, dynamics);
  Numbers sum;
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] = k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i];
  return moved(from, kTimeStep / 6.0, sum);
}

/// The angle in [-pi, pi], turn by turn as the reference does.
double wrapped(double angle) {
  while (angle > kPi) angle -= 2.0 * kPi;
  while (angle < -kPi) angle += 2.0 * kPi;
  return angle;
}

/// How far the tip is above the pivot, in m.
double height(const AcrobotState& state) {
  return -std::cos(state.theta1) - std::cos(state.theta2 + state.theta1);
}

}  // namespace

EnvSpec Acrobot::spec() const {
  return {.observation = Box{.shape = {6},
                             .low = {-1.0, -1.0, -1.0, -1.0, -kMaxSpeed1, -kMaxSpeed2},
                             .high = {1.0, 1.0, 1.0, 1.0, kMaxSpeed1, kMaxSpeed2}},
          .action = Discrete{.n = 3},
          .max_episode_steps = 500};
}

void Acrobot::reset(Rng& rng, ObservationOut observation) {
  auto& [theta1, theta2, theta1_dot, theta2_dot] = state_;
  for (double* value : {&theta1, &theta2, &theta1_dot, &theta2_dot}) {
    *value = static_cast<float>(rng.uniform(-0.1, 0.1));  // the reference draws float32
  }
  observe(observation);
}

StepResult Acrobot::step(ActionView action, ObservationOut observation) {
  const std::int64_t index = action.index();
  if (index < 0 || index > 2) {
    fail(ErrorKind::env, "Invalid action {}: must be in [0, 2]", index);
  }
  const Numbers next =
      runge_kutta({state_.theta1, state_.theta2, state_.theta1_dot, state_.theta2_dot},
                  static_cast<double>(index - 1), config_.book_or_nips);
  state_ = {.theta1 = wrapped(next[0]),
            .theta2 = wrapped(next[1]),
            .theta1_dot = std::clamp(next[2], -kMaxSpeed1, kMaxSpeed1),
            .theta2_dot = std::clamp(next[3], -kMaxSpeed2, kMaxSpeed2)};

  observe(observation);
  const bool reached = height(state_) > kLength;
  return {.reward = reached ? 0.0 : -1.0, .terminated = reached};
}

std::string Acrobot::render() const {
  constexpr int kCellsPerMetre = 4;  // twice as many in width: characters are tall
  constexpr int kRadius = 2 * kCellsPerMetre;
  const auto row = [](double y) { return static_cast<int>(std::lround(-y * kCellsPerMetre)); };
  const auto column = [](double x) {
    return static_cast<int>(std::lround(2.0 * x * kCellsPerMetre));
  };
  const double joint_x = std::sin(state_.theta1);
  const double joint_y = -std::cos(state_.theta1);
  const double tip_x = joint_x + std::sin(state_.theta1 + state_.theta2);
  std::string out;
  for (int r = -kRadius; r <= kRadius; ++r) {
    for (int c = -2 * kRadius; c <= 2 * kRadius; ++c) {
      const auto at = [&](double x, double y) { return r == row(y) && c == column(x); };
      out += at(tip_x, height(state_)) ? '*'
             : at(joint_x, joint_y)    ? 'o'
             : at(0.0, 0.0)            ? '+'
             : r == row(kLength)       ? '-'
                                       : ' ';
    }
    out += '\n';
  }
  return out + fmt::format("tip {:+.2f} m, {:+.2f} and {:+.2f} rad/s\n", height(state_),
                           state_.theta1_dot, state_.theta2_dot);
}

Image Acrobot::render_rgb() const {
  constexpr int kSide = 440;
  constexpr double kPixelsPerMetre = 100.0;
  constexpr double kThickness = 20.0;
  const auto place = [](double x, double y) {
    return Point{kSide / 2.0 + x * kPixelsPerMetre, kSide / 2.0 - y * kPixelsPerMetre};
  };
  const Point pivot = place(0.0, 0.0);
  const double joint_x = std::sin(state_.theta1);
  const Point joint = place(joint_x, -std::cos(state_.theta1));
  const Point tip = place(joint_x + std::sin(state_.theta1 + state_.theta2), height(state_));
  Canvas canvas(kSide, kSide, kWhite);
  canvas.line(place(-2.2, kLength), place(2.2, kLength), 2.0, kBlack);
  canvas.line(pivot, joint, kThickness, kBlue);
  canvas.line(joint, tip, kThickness, kBlue);
  canvas.circle(pivot, kThickness / 2.0, kYellow);
  canvas.circle(joint, kThickness / 2.0, kYellow);
  return canvas.take();
}

void Acrobot::observe(ObservationOut observation) const {
  const std::span<float> out = observation.as<float>();
  out[0] = static_cast<float>(std::cos(state_.theta1));
  out[1] = static_cast<float>(std::sin(state_.theta1));
  out[2] = static_cast<float>(std::cos(state_.theta2));
  out[3] = static_cast<float>(std::sin(state_.theta2));
  out[4] = static_cast<float>(state_.theta1_dot);
  out[5] = static_cast<float>(state_.theta2_dot);
}

}  // namespace knurl
