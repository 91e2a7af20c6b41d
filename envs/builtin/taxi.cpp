#include "knurl/envs/builtin/taxi.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "knurl/envs/builtin/scene.h"

namespace knurl {
namespace {

constexpr int kSize = 5;
constexpr int kNumActions = 6;
constexpr int kNumPlaces = 4;
constexpr int kInTaxi = 4;  // as a passenger's place
constexpr int kSouth = 0;
constexpr int kNorth = 1;
constexpr int kEast = 2;
constexpr int kWest = 3;
constexpr int kPickUp = 4;

/// Between two cells: ":" is open, "|" a wall.
constexpr std::array<std::string_view, 7> kTown = {"+---------+", "|R: | : :G|", "| : | : : |",
                                                   "| : : : : |", "| | : | : |", "|Y| : |B: |",
                                                   "+---------+"};

struct Cell {
  int row = 0;
  int column = 0;
  bool operator==(const Cell&) const = default;
};
constexpr std::array<Cell, kNumPlaces> kPlaces = {{{0, 0}, {0, 4}, {4, 0}, {4, 3}}};
constexpr std::array<std::string_view, kNumPlaces> kPlaceNames = {"red", "green", "yellow", "blue"};

const Cell& place(int number) {
  return kPlaces[static_cast<std::size_t>(number)];
}

struct TaxiState {
  Cell taxi = {};
  int passenger = 0;
  int destination = 0;
};

TaxiState decoded(int number) {
  return {.taxi = {.row = number / 100, .column = number / 20 % kSize},
          .passenger = number / 4 % 5,
          .destination = number % 4};
}

int encoded(const TaxiState& state) {
  return ((state.taxi.row * kSize + state.taxi.column) * 5 + state.passenger) * kNumPlaces +
         state.destination;
}

/// Where a move leads; the same cell at a wall.
Cell neighbour(Cell from, int direction) {
  const std::string_view street = kTown[1 + static_cast<std::size_t>(from.row)];
  const auto open = [&](int at) { return street[static_cast<std::size_t>(at)] == ':'; };
  if (direction == kSouth) from.row = std::min(from.row + 1, kSize - 1);
  if (direction == kNorth) from.row = std::max(from.row - 1, 0);
  if (direction == kEast && open(2 * from.column + 2)) ++from.column;
  if (direction == kWest && open(2 * from.column)) --from.column;
  return from;
}

Transition moved(TaxiState state, int direction, double probability) {
  state.taxi = neighbour(state.taxi, direction);
  return {.probability = probability, .next_state = encoded(state), .reward = -1.0};
}

/// In the rain a move that a wall does not stop may go to its left or right instead.
std::vector<Transition> moved_in_rain(const TaxiState& state, int direction, double ahead) {
  constexpr std::array<int, 4> kLeftOf = {kEast, kWest, kNorth, kSouth};
  constexpr std::array<int, 4> kRightOf = {kWest, kEast, kSouth, kNorth};
  const double aside = (1.0 - ahead) / 2.0;
  const bool stopped = neighbour(state.taxi, direction) == state.taxi;
  const auto at = static_cast<std::size_t>(direction);
  return {moved(state, direction, ahead), moved(state, stopped ? direction : kLeftOf[at], aside),
          moved(state, stopped ? direction : kRightOf[at], aside)};
}

Transition picked_up(TaxiState state) {
  const bool there = state.passenger != kInTaxi && state.taxi == place(state.passenger);
  if (there) state.passenger = kInTaxi;
  return {.next_state = encoded(state), .reward = there ? -1.0 : -10.0};
}

Transition dropped_off(TaxiState state) {
  const auto* const here = std::ranges::find(kPlaces, state.taxi);
  if (state.passenger != kInTaxi || here == kPlaces.end()) {
    return {.next_state = encoded(state), .reward = -10.0};
  }
  state.passenger = static_cast<int>(here - kPlaces.begin());
  const bool arrived = state.passenger == state.destination;
  return {.next_state = encoded(state), .reward = arrived ? 20.0 : -1.0, .terminated = arrived};
}

TransitionTable table_of(const Taxi::Config& config) {
  // any cell, any passenger who is not where they want to be
  std::vector<double> initial(kSize * kSize * 5 * kNumPlaces, 0.0);
  for (int number = 0; number < static_cast<int>(initial.size()); ++number) {
    const TaxiState state = decoded(number);
    if (state.passenger == kInTaxi || state.passenger == state.destination) continue;
    initial[static_cast<std::size_t>(number)] = 1.0 / 300.0;
  }
  return TransitionTable(kNumActions, std::move(initial),
                         [&](int number, int action) -> std::vector<Transition> {
                           const TaxiState state = decoded(number);
                           if (action == kPickUp) return {picked_up(state)};
                           if (action > kPickUp) return {dropped_off(state)};
                           if (config.is_rainy)
                             return moved_in_rain(state, action, config.rainy_probability);
                           return {moved(state, action, 1.0)};
                         });
}

}  // namespace

Taxi::Taxi(const Config& config) : TabularEnv(table_of(config), 200), config_(config) {}

void Taxi::reset(Rng& rng, ObservationOut observation) {
  TabularEnv::reset(rng, observation);
  will_change_ = config_.fickle_passenger && rng.uniform() < config_.fickle_probability;
}

StepResult Taxi::step(ActionView action, ObservationOut observation) {
  const TaxiState before = decoded(state());
  const StepResult result = TabularEnv::step(action, observation);
  TaxiState after = decoded(state());
  if (will_change_ && before.passenger == kInTaxi && after.taxi != before.taxi) {
    will_change_ = false;
    const int further = 1 + static_cast<int>(rng().below(kNumPlaces - 1));
    after.destination = (before.destination + further) % kNumPlaces;
    set_state(encoded(after));
    observation.set_index(state());
  }
  return result;
}

void Taxi::save(ByteWriter& out) const {
  TabularEnv::save(out);
  write(out, will_change_);
}

void Taxi::load(ByteReader& in, Rng& rng) {
  TabularEnv::load(in, rng);
  will_change_ = read<bool>(in);
}

std::string Taxi::render() const {
  const TaxiState now = decoded(state());
  std::string out;
  for (int line = 0; line < static_cast<int>(kTown.size()); ++line) {
    std::string text(kTown[static_cast<std::size_t>(line)]);
    if (line == 1 + now.taxi.row) {
      text[2 * static_cast<std::size_t>(now.taxi.column) + 1] =
          now.passenger == kInTaxi ? 'T' : 't';
    }
    out += text + '\n';
  }
  const auto name = [](int number) { return kPlaceNames[static_cast<std::size_t>(number)]; };
  return out + fmt::format("passenger {}, to {}\n",
                           now.passenger == kInTaxi ? "in the taxi"
                                                    : fmt::format("at {}", name(now.passenger)),
                           name(now.destination));
}

Image Taxi::render_rgb() const {
  constexpr Color kStreet{225, 225, 225};
  constexpr std::array<Color, kNumPlaces> kColors = {kRed, kGreen, kYellow, kBlue};
  const TaxiState now = decoded(state());
  const auto color = [&](int row, int column) {
    const auto* const here = std::ranges::find(kPlaces, Cell{.row = row, .column = column});
    if (here == kPlaces.end()) return kStreet;
    return kColors[static_cast<std::size_t>(here - kPlaces.begin())];
  };
  const GridScene scene{.rows = kSize, .columns = kSize, .color = color};
  const double half = cell_size(scene) / 2.0;
  Canvas canvas = draw_cells(scene);
  const auto box = [&](Point middle, double wide, double high, Color filled) {
    canvas.rectangle({middle.x - wide / 2.0, middle.y - high / 2.0},
                     {middle.x + wide / 2.0, middle.y + high / 2.0}, filled);
  };
  const auto centre = [&](Cell cell) { return cell_centre(scene, cell.row, cell.column); };
  for (int number = 0; number < kSize * kSize; ++number) {  // walls at the right of their cells
    const Cell cell{.row = number / kSize, .column = number % kSize};
    if (cell.column + 1 == kSize || neighbour(cell, kEast) != cell) continue;
    box({centre(cell).x + half, centre(cell).y}, 6.0, 2.0 * half, kBlack);
  }
  box(centre(place(now.destination)), 16.0, 16.0, kWhite);
  box(centre(now.taxi), 40.0, 24.0, kBlack);
  const Point passenger = centre(now.passenger == kInTaxi ? now.taxi : place(now.passenger));
  canvas.circle({passenger.x, passenger.y - 4.0}, 7.0, kBrown);
  return canvas.take();
}

}  // namespace knurl
