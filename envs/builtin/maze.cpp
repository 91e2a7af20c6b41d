#include "knurl/envs/builtin/maze.h"

#include <algorithm>

#include "knurl/envs/builtin/scene.h"

namespace knurl {

EnvSpec Maze::spec() const {
  const std::int64_t cells = config_.rows * config_.columns;
  return {.observation = Discrete{.n = config_.random_goal ? cells * cells : cells},
          .action = Discrete{.n = 4},
          .max_episode_steps = 100,
          .info = {"seeker_row", "seeker_column", "goal_row", "goal_column", "success"}};
}

void Maze::reset(Rng& rng, ObservationOut observation) {
  state_.seeker = {};
  if (config_.random_goal) {  // any cell but the start
    const auto cells = static_cast<std::uint64_t>(config_.rows * config_.columns);
    const int cell = 1 + static_cast<int>(rng.below(cells - 1));
    state_.goal = {.row = cell / config_.columns, .column = cell % config_.columns};
  }
  observe(observation);
}

StepResult Maze::step(ActionView action, ObservationOut observation) {
  switch (action.index()) {
    case 0:
      state_.seeker.row = std::min(state_.seeker.row + 1, config_.rows - 1);
      break;
    case 1:
      state_.seeker.column = std::max(state_.seeker.column - 1, 0);
      break;
    case 2:
      state_.seeker.row = std::max(state_.seeker.row - 1, 0);
      break;
    case 3:
      state_.seeker.column = std::min(state_.seeker.column + 1, config_.columns - 1);
      break;
    default:
      fail(ErrorKind::env, "Invalid action {}: must be in [0, 3]", action.index());
  }
  observe(observation);
  const bool at_goal = state_.seeker == state_.goal;
  return {.reward = at_goal ? 1.0 : 0.0, .terminated = at_goal};
}

void Maze::info(std::span<double> numbers) const {
  numbers[0] = state_.seeker.row;
  numbers[1] = state_.seeker.column;
  numbers[2] = state_.goal.row;
  numbers[3] = state_.goal.column;
  numbers[4] = state_.seeker == state_.goal ? 1.0 : 0.0;
}

std::string Maze::render() const {
  std::string out;
  for (int row = 0; row < config_.rows; ++row) {
    for (int column = 0; column < config_.columns; ++column) {
      const MazeCell cell{.row = row, .column = column};
      out += cell == state_.seeker ? "|S" : cell == state_.goal ? "|G" : "| ";
    }
    out += "|\n";
  }
  return out;
}

Image Maze::render_rgb() const {
  const auto color = [&](int row, int column) {
    return MazeCell{.row = row, .column = column} == state_.goal ? kGreen : kWhite;
  };
  const GridScene scene{.rows = config_.rows, .columns = config_.columns, .color = color};
  Canvas canvas = draw_cells(scene);
  draw_disc(canvas, scene, state_.seeker.row, state_.seeker.column, kBlue);
  return canvas.take();
}

void Maze::observe(ObservationOut observation) const {
  const std::int64_t cells = config_.rows * config_.columns;
  observation.set_index(number_of(state_.seeker) +
                        (config_.random_goal ? cells * number_of(state_.goal) : 0));
}

}  // namespace knurl
