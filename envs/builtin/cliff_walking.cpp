#include "knurl/envs/builtin/cliff_walking.h"

#include <algorithm>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

constexpr int kRows = 4;
constexpr int kColumns = 12;
constexpr int kNumActions = 4;  // up, right, down, left
constexpr int kStart = (kRows - 1) * kColumns;
constexpr int kGoal = kRows * kColumns - 1;

bool on_cliff(int state) {
  return state > kStart && state < kGoal;
}

Transition gone(int state, int direction, double probability) {
  int row = state / kColumns;
  int column = state % kColumns;
  if (direction == 0) row = std::max(row - 1, 0);
  if (direction == 1) column = std::min(column + 1, kColumns - 1);
  if (direction == 2) row = std::min(row + 1, kRows - 1);
  if (direction == 3) column = std::max(column - 1, 0);
  const int next = row * kColumns + column;
  if (on_cliff(next)) return {.probability = probability, .next_state = kStart, .reward = -100.0};
  return {
      .probability = probability, .next_state = next, .reward = -1.0, .terminated = next == kGoal};
}

TransitionTable table_of(CliffWalking::Config config) {
  std::vector<double> initial(kRows * kColumns, 0.0);
  initial[kStart] = 1.0;
  return TransitionTable(kNumActions, initial, [&](int state, int action) {
    if (!config.is_slippery) return std::vector{gone(state, action, 1.0)};
    std::vector<Transition> out;
    for (const int turn : {3, 0, 1}) {  // to the left, ahead, to the right
      out.push_back(gone(state, (action + turn) % kNumActions, 1.0 / 3.0));
    }
    return out;
  });
}

}  // namespace

CliffWalking::CliffWalking(Config config) : TabularEnv(table_of(config)) {}

std::string CliffWalking::render() const {
  const auto cell = [](int row, int column) {
    const int number = row * kColumns + column;
    return number == kStart ? 'S' : number == kGoal ? 'G' : on_cliff(number) ? 'x' : '.';
  };
  return render_grid(kRows, kColumns, cell, state() / kColumns, state() % kColumns);
}

Image CliffWalking::render_rgb() const {
  const auto color = [](int row, int column) {
    const int number = row * kColumns + column;
    if (on_cliff(number)) return kBrown;
    return number == kStart ? kYellow : number == kGoal ? kGreen : kWhite;
  };
  const GridScene scene{.rows = kRows, .columns = kColumns, .color = color};
  Canvas canvas = draw_cells(scene);
  draw_disc(canvas, scene, state() / kColumns, state() % kColumns, kBlue);
  return canvas.take();
}

}  // namespace knurl
