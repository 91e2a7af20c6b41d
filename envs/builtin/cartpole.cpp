#include "knurl/envs/builtin/cartpole.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

constexpr double kGravity = 9.8;   // m/s^2
constexpr double kCartMass = 1.0;  // kg
constexpr double kPoleMass = 0.1;  // kg
constexpr double kTotalMass = kCartMass + kPoleMass;
constexpr double kHalfLength = 0.5;  // m
constexpr double kPoleMassLength = kPoleMass * kHalfLength;
constexpr double kForce = 10.0;                                        // N
constexpr double kTimeStep = 0.02;                                     // s
constexpr double kThetaLimit = 12.0 * 2.0 * std::numbers::pi / 360.0;  // rad
constexpr double kXLimit = 2.4;                                        // m

}  // namespace

EnvSpec CartPole::spec() const {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> high{2.0 * kXLimit, inf, 2.0 * kThetaLimit, inf};
  const std::vector<double> low{-2.0 * kXLimit, -inf, -2.0 * kThetaLimit, -inf};
  return {.observation = Box{.shape = {4}, .low = low, .high = high},
          .action = Discrete{.n = 2},
          .max_episode_steps = 500};
}

void CartPole::reset(Rng& rng, ObservationOut observation) {
  for (double* value : {&state_.x, &state_.x_dot, &state_.theta, &state_.theta_dot}) {
    *value = rng.uniform(-0.05, 0.05);
  }
  observe(observation);
}

StepResult CartPole::step(ActionView action, ObservationOut observation) {
  auto& [x, x_dot, theta, theta_dot] = state_;
  const std::int64_t direction = action.index();
  if (direction != 0 && direction != 1) {
    fail(ErrorKind::env, "Invalid action {}: must be 0 or 1", direction);
  }
  const double force = direction == 1 ? kForce : -kForce;
  const double cos_theta = std::cos(theta);
  const double sin_theta = std::sin(theta);

  // accelerations (Florian 2007, equations 23 and 24, without friction)
  const double push = (force + kPoleMassLength * theta_dot * theta_dot * sin_theta) / kTotalMass;
  const double theta_acc =
      (kGravity * sin_theta - cos_theta * push) /
      (kHalfLength * (4.0 / 3.0 - kPoleMass * cos_theta * cos_theta / kTotalMass));
  const double x_acc = push - kPoleMassLength * theta_acc * cos_theta / kTotalMass;

  // explicit Euler: positions move with the velocities from before
  x += kTimeStep * x_dot;
  x_dot += kTimeStep * x_acc;
  theta += kTimeStep * theta_dot;
  theta_dot += kTimeStep * theta_acc;

  observe(observation);
  const bool fallen = x < -kXLimit || x > kXLimit || theta < -kThetaLimit || theta > kThetaLimit;
  const double sutton_barto = fallen ? -1.0 : 0.0;
  return {.reward = config_.sutton_barto_reward ? sutton_barto : 1.0, .terminated = fallen};
}

std::string CartPole::render() const {
  constexpr int kWidth = 49;
  const auto column = [](double x) {
    const double scaled = (x + kXLimit) / (2.0 * kXLimit) * (kWidth - 1);
    return static_cast<std::size_t>(std::clamp(std::lround(scaled), 0L, kWidth - 1L));
  };
  std::string pole(kWidth, ' ');
  std::string cart(kWidth, ' ');
  pole[column(state_.x + std::sin(state_.theta))] = state_.theta < 0.0 ? '\\' : '/';
  cart[column(state_.x)] = '#';
  return pole + "\n" + cart + "\n" + std::string(kWidth, '=') + "\n" +
         fmt::format("x {:+.2f} m, angle {:+.1f} degrees\n", state_.x,
                     state_.theta * 180.0 / std::numbers::pi);
}

Image CartPole::render_rgb() const {
  constexpr int kWidth = 600;
  constexpr int kHeight = 400;
  constexpr double kPixelsPerMetre = kWidth / (2.0 * kXLimit);
  constexpr double kTrack = 300.0;  // how far down the track is
  Canvas canvas(kWidth, kHeight, kWhite);
  canvas.rectangle({0.0, kTrack}, {kWidth, kTrack + 1.0}, kBlack);
  const Point axle{kWidth / 2.0 + state_.x * kPixelsPerMetre, kTrack - 8.0};
  canvas.rectangle({axle.x - 25.0, kTrack - 15.0}, {axle.x + 25.0, kTrack + 15.0}, kBlack);
  const double length = 2.0 * kHalfLength * kPixelsPerMetre;
  canvas.line(axle,
              {axle.x + length * std::sin(state_.theta), axle.y - length * std::cos(state_.theta)},
              10.0, kBrown);
  canvas.circle(axle, 5.0, kBlue);
  return canvas.take();
}

void CartPole::observe(ObservationOut observation) const {
  const std::span<float> out = observation.as<float>();
  out[0] = static_cast<float>(state_.x);
  out[1] = static_cast<float>(state_.x_dot);
  out[2] = static_cast<float>(state_.theta);
  out[3] = static_cast<float>(state_.theta_dot);
}

}  // namespace knurl
