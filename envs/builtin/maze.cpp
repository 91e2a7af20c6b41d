#include "knurl/envs/builtin/maze.h"

#include <algorithm>

namespace knurl {

EnvSpec Maze::spec() const {
  const std::int64_t cells = config_.rows * config_.columns;
  return {.observation = Discrete{.n = config_.random_goal ? cells * cells : cells},
          .action = Discrete{.n = 4},
          .max_episode_steps = 100,
          .info = {"seeker_row", "seeker_column", "goal_row", "goal_column", "success"}};
}

void Maze::reset(Rng& rng, ObservationOut observation) {
  seeker_ = {};
  if (config_.random_goal) {  // any cell but the start
    const auto cells = static_cast<std::uint64_t>(config_.rows * config_.columns);
    const int cell = 1 + static_cast<int>(rng.below(cells - 1));
    goal_ = {.row = cell / config_.columns, .column = cell % config_.columns};
  }
  observe(observation);
}

StepResult Maze::step(ActionView action, ObservationOut observation) {
  switch (action.index()) {
    case 0:
      seeker_.row = std::min(seeker_.row + 1, config_.rows - 1);
      break;
    case 1:
      seeker_.column = std::max(seeker_.column - 1, 0);
      break;
    case 2:
      seeker_.row = std::max(seeker_.row - 1, 0);
      break;
    case 3:
      seeker_.column = std::min(seeker_.column + 1, config_.columns - 1);
      break;
    default:
      fail(ErrorKind::env, "Invalid action {}: must be in [0, 3]", action.index());
  }
  observe(observation);
  const bool at_goal = seeker_ == goal_;
  return {.reward = at_goal ? 1.0 : 0.0, .terminated = at_goal};
}

void Maze::info(std::span<double> numbers) const {
  numbers[0] = seeker_.row;
  numbers[1] = seeker_.column;
  numbers[2] = goal_.row;
  numbers[3] = goal_.column;
  numbers[4] = seeker_ == goal_ ? 1.0 : 0.0;
}

std::string Maze::render() const {
  std::string out;
  for (int row = 0; row < config_.rows; ++row) {
    for (int column = 0; column < config_.columns; ++column) {
      const Cell cell{.row = row, .column = column};
      out += cell == seeker_ ? "|S" : cell == goal_ ? "|G" : "| ";
    }
    out += "|\n";
  }
  return out;
}

void Maze::save(ByteWriter& out) const {
  write(out, seeker_);
  write(out, goal_);
}

void Maze::load(ByteReader& in, Rng& /*rng*/) {
  seeker_ = read<Cell>(in);
  goal_ = read<Cell>(in);
}

void Maze::observe(ObservationOut observation) const {
  const std::int64_t cells = config_.rows * config_.columns;
  observation.set_index(number_of(seeker_) + (config_.random_goal ? cells * number_of(goal_) : 0));
}

}  // namespace knurl
