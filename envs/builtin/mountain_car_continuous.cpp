#include "knurl/envs/builtin/mountain_car_continuous.h"

#include <algorithm>
#include <cmath>

namespace knurl {
namespace {

constexpr double kLowest = -1.2;
constexpr double kHighest = 0.6;
constexpr double kMaxSpeed = 0.07;
constexpr double kGoal = 0.45;
constexpr double kPower = 0.0015;
constexpr double kGravity = 0.0025;

struct Moved {
  MountainCarState car = {};
  bool at_goal = false;
};

/// One step in the arithmetic of the reference, whose numbers are of the type of its state: double
/// for a state that reset drew, float32 from the first step on. An action within bounds is float32.
template <class Real>
Moved move(const MountainCarState& from, float action, double goal_velocity) {
  Real position = static_cast<Real>(from.position);
  Real velocity = static_cast<Real>(from.velocity);
  const double pull = kGravity * std::cos(static_cast<double>(Real{3} * position));
  if (action > 1.0F) {
    velocity += static_cast<Real>(kPower - pull);
  } else if (action < -1.0F) {
    velocity += static_cast<Real>(-kPower - pull);
  } else {
    velocity += static_cast<Real>(action * static_cast<float>(kPower) - static_cast<float>(pull));
  }
  velocity = std::clamp(velocity, static_cast<Real>(-kMaxSpeed), static_cast<Real>(kMaxSpeed));
  position =
      std::clamp(position + velocity, static_cast<Real>(kLowest), static_cast<Real>(kHighest));
  if (position == static_cast<Real>(kLowest) && velocity < Real{0}) velocity = Real{0};
  return {
      .car = {.position = static_cast<float>(position), .velocity = static_cast<float>(velocity)},
      .at_goal =
          position >= static_cast<Real>(kGoal) && velocity >= static_cast<Real>(goal_velocity)};
}

}  // namespace

EnvSpec MountainCarContinuous::spec() const {
  return {
      .observation = Box{.shape = {2}, .low = {kLowest, -kMaxSpeed}, .high = {kHighest, kMaxSpeed}},
      .action = Box{.shape = {1}, .low = -1.0, .high = 1.0},
      .max_episode_steps = 999};
}

void MountainCarContinuous::reset(Rng& rng, ObservationOut observation) {
  state_ = {.car = {.position = rng.uniform(-0.6, -0.4), .velocity = 0.0}, .drawn = true};
  observe(observation);
}

StepResult MountainCarContinuous::step(ActionView action, ObservationOut observation) {
  const float push = action[0];
  const Moved moved = state_.drawn ? move<double>(state_.car, push, config_.goal_velocity)
                                   : move<float>(state_.car, push, config_.goal_velocity);
  state_ = {.car = moved.car, .drawn = false};
  observe(observation);
  const double effort = static_cast<double>(push) * static_cast<double>(push) * 0.1;
  return {.reward = (moved.at_goal ? 100.0 : 0.0) - effort, .terminated = moved.at_goal};
}

std::string MountainCarContinuous::render() const {
  return render_valley(state_.car, kGoal);
}

Image MountainCarContinuous::render_rgb() const {
  return picture_of_valley(state_.car, kGoal);
}

void MountainCarContinuous::observe(ObservationOut observation) const {
  const std::span<float> out = observation.as<float>();
  out[0] = static_cast<float>(state_.car.position);
  out[1] = static_cast<float>(state_.car.velocity);
}

}  // namespace knurl
