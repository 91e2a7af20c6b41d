#include "knurl/envs/builtin/pendulum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

constexpr double kMaxSpeed = 8.0;   // rad/s
constexpr double kMaxTorque = 2.0;  // N m
constexpr double kTimeStep = 0.05;  // s
constexpr double kMass = 1.0;       // kg
constexpr double kLength = 1.0;     // m
constexpr double kPi = std::numbers::pi;

/// The angle in [-pi, pi).
double normalised(double angle) {
  const double turned = std::fmod(angle + kPi, 2.0 * kPi);
  return (turned < 0.0 ? turned + 2.0 * kPi : turned) - kPi;
}

}  // namespace

EnvSpec Pendulum::spec() const {
  return {.observation =
              Box{.shape = {3}, .low = {-1.0, -1.0, -kMaxSpeed}, .high = {1.0, 1.0, kMaxSpeed}},
          .action = Box{.shape = {1}, .low = -kMaxTorque, .high = kMaxTorque},
          .max_episode_steps = 200};
}

void Pendulum::reset(Rng& rng, ObservationOut observation) {
  state_.theta = rng.uniform(-kPi, kPi);
  state_.theta_dot = rng.uniform(-1.0, 1.0);
  observe(observation);
}

StepResult Pendulum::step(ActionView action, ObservationOut observation) {
  auto& [theta, theta_dot] = state_;
  const double torque = std::clamp(static_cast<double>(action[0]), -kMaxTorque, kMaxTorque);
  const double angle = normalised(theta);
  const double cost = angle * angle + 0.1 * theta_dot * theta_dot + 0.001 * torque * torque;

  const double acceleration = 3.0 * gravity_ / (2.0 * kLength) * std::sin(theta) +
                              3.0 / (kMass * kLength * kLength) * torque;
  theta_dot = std::clamp(theta_dot + acceleration * kTimeStep, -kMaxSpeed, kMaxSpeed);
  theta += theta_dot * kTimeStep;

  observe(observation);
  return {.reward = -cost};
}

std::string Pendulum::render() const {
  constexpr int kRadius = 5;
  std::string out;
  const auto column = std::lround(2.0 * kRadius * -std::sin(state_.theta));
  const auto row = std::lround(kRadius * -std::cos(state_.theta));
  for (long r = -kRadius; r <= kRadius; ++r) {
    for (long c = -2 * kRadius; c <= 2 * kRadius; ++c) {
      out += r == row && c == column ? 'o' : r == 0 && c == 0 ? '+' : ' ';
    }
    out += '\n';
  }
  return out + fmt::format("angle {:+.1f} degrees, {:+.2f} rad/s\n",
                           normalised(state_.theta) * 180.0 / kPi, state_.theta_dot);
}

Image Pendulum::render_rgb() const {
  constexpr int kSide = 400;
  constexpr double kPixelsPerMetre = 150.0;
  Canvas canvas(kSide, kSide, kWhite);
  const Point pivot{kSide / 2.0, kSide / 2.0};
  const double rod = kLength * kPixelsPerMetre;
  const Point tip{pivot.x - rod * std::sin(state_.theta), pivot.y - rod * std::cos(state_.theta)};
  canvas.line(pivot, tip, 30.0, kRed);
  canvas.circle(pivot, 15.0, kRed);
  canvas.circle(tip, 15.0, kRed);
  canvas.circle(pivot, 4.0, kBlack);
  return canvas.take();
}

void Pendulum::observe(ObservationOut observation) const {
  const std::span<float> out = observation.as<float>();
  out[0] = static_cast<float>(std::cos(state_.theta));
  out[1] = static_cast<float>(std::sin(state_.theta));
  out[2] = static_cast<float>(state_.theta_dot);
}

}  // namespace knurl
