#include "knurl/envs/builtin/mountain_car.h"

#include <algorithm>
#include <cmath>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

constexpr double kLowest = -1.2;
constexpr double kHighest = 0.6;
constexpr double kMaxSpeed = 0.07;
constexpr double kGoal = 0.5;
constexpr double kForce = 0.001;
constexpr double kGravity = 0.0025;

void observe(const MountainCarState& state, ObservationOut observation) {
  const std::span<float> out = observation.as<float>();
  out[0] = static_cast<float>(state.position);
  out[1] = static_cast<float>(state.velocity);
}

}  // namespace

EnvSpec MountainCar::spec() const {
  return {
      .observation = Box{.shape = {2}, .low = {kLowest, -kMaxSpeed}, .high = {kHighest, kMaxSpeed}},
      .action = Discrete{.n = 3},
      .max_episode_steps = 200};
}

void MountainCar::reset(Rng& rng, ObservationOut observation) {
  state_ = {.position = rng.uniform(-0.6, -0.4), .velocity = 0.0};
  observe(state_, observation);
}

StepResult MountainCar::step(ActionView action, ObservationOut observation) {
  auto& [position, velocity] = state_;
  const std::int64_t direction = action.index();
  if (direction < 0 || direction > 2) {
    fail(ErrorKind::env, "Invalid action {}: must be in [0, 2]", direction);
  }
  const double push = static_cast<double>(direction - 1) * kForce;
  velocity =
      std::clamp(velocity + (push + std::cos(3.0 * position) * -kGravity), -kMaxSpeed, kMaxSpeed);
  position = std::clamp(position + velocity, kLowest, kHighest);
  if (position == kLowest && velocity < 0.0) velocity = 0.0;  // the wall on the left

  observe(state_, observation);
  return {.reward = -1.0, .terminated = position >= kGoal && velocity >= config_.goal_velocity};
}

std::string MountainCar::render() const {
  return render_valley(state_, kGoal);
}

Image MountainCar::render_rgb() const {
  return picture_of_valley(state_, kGoal);
}

std::string render_valley(const MountainCarState& state, double goal_position) {
  constexpr int kWidth = 55;
  constexpr int kHeight = 10;
  const auto column = [](double position) {
    const double scaled = (position - kLowest) / (kHighest - kLowest) * (kWidth - 1);
    return static_cast<int>(std::clamp(std::lround(scaled), 0L, kWidth - 1L));
  };
  const auto row = [](int of_column) {  // the hills are as high as sin(3 position)
    const double position = kLowest + (kHighest - kLowest) * of_column / (kWidth - 1);
    return static_cast<int>(std::lround((1.0 - std::sin(3.0 * position)) / 2.0 * (kHeight - 1)));
  };
  const int car = column(state.position);
  const int flag = column(goal_position);
  std::string out;
  for (int r = 0; r < kHeight; ++r) {
    for (int c = 0; c < kWidth; ++c) {
      out += row(c) != r ? ' ' : c == car ? '#' : c == flag ? 'P' : '.';
    }
    out += '\n';
  }
  return out + fmt::format("position {:+.3f}, velocity {:+.4f}\n", state.position, state.velocity);
}

Image picture_of_valley(const MountainCarState& state, double goal_position) {
  constexpr int kWidth = 600;
  constexpr int kHeight = 400;
  constexpr double kPixelsAPosition = kWidth / (kHighest - kLowest);
  constexpr double kCarRadius = 12.0;
  const auto place = [](double position) {  // on the ground, whose height is sin(3 position)
    const double height = 0.45 * std::sin(3.0 * position) + 0.55;
    return Point{(position - kLowest) * kPixelsAPosition, kHeight - height * kPixelsAPosition};
  };
  Canvas canvas(kWidth, kHeight, kWhite);
  std::vector<Point> ground{{kWidth, kHeight}, {0.0, kHeight}};
  for (int x = 0; x <= kWidth; x += 4) ground.push_back(place(kLowest + x / kPixelsAPosition));
  canvas.polygon(ground, kGray);
  const Point flag = place(goal_position);
  canvas.rectangle({flag.x, flag.y - 50.0}, {flag.x + 2.0, flag.y}, kBlack);
  canvas.rectangle({flag.x + 2.0, flag.y - 50.0}, {flag.x + 26.0, flag.y - 34.0}, kYellow);
  const Point car = place(state.position);
  canvas.circle({car.x, car.y - kCarRadius}, kCarRadius, kBlack);
  return canvas.take();
}

}  // namespace knurl
