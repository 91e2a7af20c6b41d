#include "knurl/envs/builtin/frozen_lake.h"

#include <algorithm>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

using Map = std::vector<std::string>;

constexpr std::size_t kMostCells = 100;  // in a row, or rows
constexpr int kNumActions = 4;           // left, down, right, up

Map named_map(LakeMap name) {
  if (name == LakeMap::small) return {"SFFF", "FHFH", "FFFH", "HFFG"};
  return {"SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF",
          "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"};
}

bool has(const Map& map, char letter) {
  return std::ranges::any_of(
      map, [&](const std::string& row) { return row.find(letter) != std::string::npos; });
}

/// The map that a config means.
Map checked_map(const FrozenLake::Config& config) {
  if (!config.desc) return named_map(config.map_name);
  const Map& map = *config.desc;
  if (map.empty() || map.size() > kMostCells || map[0].empty() || map[0].size() > kMostCells) {
    fail(ErrorKind::config, "env_config.desc: {} rows, the first of {} cells: must be 1 to {} each",
         map.size(), map.empty() ? 0 : map[0].size(), kMostCells);
  }
  for (std::size_t row = 0; row < map.size(); ++row) {
    if (map[row].size() != map[0].size()) {
      fail(ErrorKind::config, "env_config.desc[{}] = {}: has {} cells, but the first row {}", row,
           map[row], map[row].size(), map[0].size());
    }
    if (const auto other = map[row].find_first_not_of("SFHG"); other != std::string::npos) {
      fail(ErrorKind::config, "env_config.desc[{}] = {}: has the letter {}: must be S, F, H or G",
           row, map[row], map[row][other]);
    }
  }
  for (const auto& [letter, meaning] : {std::pair('S', "start"), std::pair('G', "goal")}) {
    if (has(map, letter)) continue;
    fail(ErrorKind::config, "env_config.desc: has no {}; mark one or more by {}", meaning, letter);
  }
  return map;
}

/// Any start is as likely as another.
std::vector<double> initial_of(const Map& map) {
  std::vector<double> out;
  for (const std::string& row : map) {
    for (const char letter : row) out.push_back(letter == 'S' ? 1.0 : 0.0);
  }
  const auto starts = static_cast<double>(std::ranges::count(out, 1.0));
  for (double& probability : out) probability /= starts;
  return out;
}

/// What may follow an action in a cell.
std::vector<Transition> transitions_of(const Map& map, const FrozenLake::Config& config, int state,
                                       int action) {
  const int rows = static_cast<int>(map.size());
  const int columns = static_cast<int>(map[0].size());
  const auto letter = [&](int cell) {
    return map[static_cast<std::size_t>(cell / columns)][static_cast<std::size_t>(cell % columns)];
  };
  const auto ends = [&](int cell) { return letter(cell) == 'G' || letter(cell) == 'H'; };
  if (ends(state)) return {{.next_state = state, .terminated = true}};

  const auto gone = [&](int direction, double probability) {
    int row = state / columns;
    int column = state % columns;
    if (direction == 0) column = std::max(column - 1, 0);
    if (direction == 1) row = std::min(row + 1, rows - 1);
    if (direction == 2) column = std::min(column + 1, columns - 1);
    if (direction == 3) row = std::max(row - 1, 0);
    const int next = row * columns + column;
    const std::size_t kind = letter(next) == 'G' ? 0 : letter(next) == 'H' ? 1 : 2;
    return Transition{.probability = probability,
                      .next_state = next,
                      .reward = config.reward_schedule[kind],
                      .terminated = ends(next)};
  };
  if (!config.is_slippery) return {gone(action, 1.0)};
  const double aside = (1.0 - config.success_rate) / 2.0;
  return {gone((action + 3) % kNumActions, aside), gone(action, config.success_rate),
          gone((action + 1) % kNumActions, aside)};
}

}  // namespace

FrozenLake::FrozenLake(const Config& config) : FrozenLake(checked_map(config), config) {}

FrozenLake::FrozenLake(Map map, const Config& config)
    : TabularEnv(TransitionTable(kNumActions, initial_of(map),
                                 [&](int state, int action) {
                                   return transitions_of(map, config, state, action);
                                 }),
                 100),
      map_(std::move(map)) {}

std::string FrozenLake::render() const {
  const int columns = static_cast<int>(map_[0].size());
  return render_grid(
      static_cast<int>(map_.size()), columns,
      [&](int row, int column) {
        return map_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
      },
      state() / columns, state() % columns);
}

Image FrozenLake::render_rgb() const {
  constexpr Color kIce{215, 235, 250};
  constexpr Color kShore{190, 190, 190};
  const auto color = [&](int row, int column) {
    const char letter = map_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    return letter == 'H' ? kBlue : letter == 'G' ? kGreen : letter == 'S' ? kShore : kIce;
  };
  const GridScene scene{.rows = static_cast<int>(map_.size()),
                        .columns = static_cast<int>(map_[0].size()),
                        .color = color};
  Canvas canvas = draw_cells(scene);
  draw_disc(canvas, scene, state() / scene.columns, state() % scene.columns, kRed);
  return canvas.take();
}

}  // namespace knurl
