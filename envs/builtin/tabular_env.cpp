#include "knurl/envs/builtin/tabular_env.h"

namespace knurl {
namespace {

/// Draws a number below `n`, each with its probability. Where one is certain, nothing is drawn.
template <class Probability>
int draw(int n, const Probability& probability, Rng& rng) {
  int last = 0;  // of those that are possible, for what rounding leaves
  for (int i = 0; i < n; ++i) {
    if (probability(i) == 1.0) return i;
    if (probability(i) > 0.0) last = i;
  }
  double left = rng.uniform();
  for (int i = 0; i < last; ++i) {
    left -= probability(i);
    if (left < 0.0) return i;
  }
  return last;
}

}  // namespace

EnvSpec TabularEnv::spec() const {
  return {.observation = Discrete{.n = table_.num_states()},
          .action = Discrete{.n = table_.num_actions()},
          .max_episode_steps = max_episode_steps_};
}

void TabularEnv::reset(Rng& rng, ObservationOut observation) {
  rng_ = &rng;
  state_ = draw(
      table_.num_states(),
      [&](int state) { return table_.initial()[static_cast<std::size_t>(state)]; }, rng);
  observation.set_index(state_);
}

StepResult TabularEnv::step(ActionView action, ObservationOut observation) {
  const std::int64_t index = action.index();
  if (index < 0 || index >= table_.num_actions()) {
    fail(ErrorKind::env, "Invalid action {}: must be in [0, {}]", index, table_.num_actions() - 1);
  }
  const std::span<const Transition> all = transitions(state_, static_cast<int>(index));
  const auto probability = [&](int i) { return all[static_cast<std::size_t>(i)].probability; };
  const int drawn = draw(static_cast<int>(all.size()), probability, *rng_);
  const Transition& next = all[static_cast<std::size_t>(drawn)];
  state_ = next.next_state;
  observation.set_index(state_);
  return {.reward = next.reward, .terminated = next.terminated};
}

void TabularEnv::save(ByteWriter& out) const {
  write(out, state_);
}

void TabularEnv::load(ByteReader& in, Rng& rng) {
  rng_ = &rng;
  state_ = read<int>(in);
}

std::string render_grid(int rows, int columns, const std::function<char(int row, int column)>& cell,
                        int at_row, int at_column) {
  std::string out;
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const bool here = row == at_row && column == at_column;
      out += here ? '[' : ' ';
      out += cell(row, column);
      out += here ? ']' : ' ';
    }
    out += '\n';
  }
  return out;
}

}  // namespace knurl
