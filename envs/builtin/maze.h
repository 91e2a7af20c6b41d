#pragma once

#include "knurl/envs/builtin/state_env.h"

namespace knurl {

struct MazeCell {
  int row = 0;
  int column = 0;
  bool operator==(const MazeCell&) const = default;
};
struct MazeState {
  MazeCell seeker = {};
  MazeCell goal = {};
};

/// A seeker walks a grid from the upper left corner to the goal, by default in the lower right one
/// of 5 x 5 cells. Actions: 0 down, 1 left, 2 up, 3 right; walls stop a move. Reward 1 at the goal,
/// else 0. Observation: columns * row + column; with a random goal, the goal's cell times the
/// number of cells more.
class Maze final : public StateEnv<MazeState> {
 public:
  struct Config {
    int rows = 5;
    int columns = 5;
    bool random_goal = false;
    static void fields(auto& self, auto&& field) {
      field("rows", self.rows, "rows of cells", Range{2, 1'000});
      field("columns", self.columns, "columns of cells", Range{2, 1'000});
      field("random_goal", self.random_goal, "draw the goal anew for each episode");
    }
  };

  /// Throws Error(config) where the config is out of range.
  explicit Maze(Config config) : config_(config) {
    schema_of<Config>().check(&config_, "Maze-v0");
    state_.goal = {.row = config.rows - 1, .column = config.columns - 1};
  }

  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  void info(std::span<double> numbers) const override;
  /// A line a row, "| " a cell, "|G" the goal and over it "|S" the seeker.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  [[nodiscard]] int number_of(MazeCell cell) const {
    return config_.columns * cell.row + cell.column;
  }
  void observe(ObservationOut observation) const;

  Config config_;
};

}  // namespace knurl
