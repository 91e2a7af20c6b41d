#pragma once

#include <functional>
#include <optional>
#include <string>

#include "knurl/envs/env.h"
#include "knurl/envs/tabular.h"

namespace knurl {

/// An env whose observation is the number of its state and whose steps are drawn from a table.
class TabularEnv : public Env {
 public:
  [[nodiscard]] EnvSpec spec() const override;
  void reset(Rng& rng, ObservationOut observation) override;
  StepResult step(ActionView action, ObservationOut observation) override;
  [[nodiscard]] bool can_save() const final { return true; }
  void save(ByteWriter& out) const override;
  void load(ByteReader& in, Rng& rng) override;

  [[nodiscard]] const TransitionTable& table() const { return table_; }
  /// What may follow a state and an action, with which probability.
  [[nodiscard]] std::span<const Transition> transitions(int state, int action) const {
    return table_.transitions(state, action);
  }
  [[nodiscard]] int state() const { return state_; }
  void set_state(int state) { state_ = state; }

 protected:
  explicit TabularEnv(TransitionTable table, std::optional<int> max_episode_steps = std::nullopt)
      : table_(std::move(table)), max_episode_steps_(max_episode_steps) {}

  /// Of the episode.
  [[nodiscard]] Rng& rng() { return *rng_; }

 private:
  TransitionTable table_;
  std::optional<int> max_episode_steps_;
  Rng* rng_ = nullptr;
  int state_ = 0;
};

/// A grid as text, a line a row: " F " a cell with the letter F, "[F]" the one at row `at_row` and
/// column `at_column`.
std::string render_grid(int rows, int columns, const std::function<char(int row, int column)>& cell,
                        int at_row, int at_column);

}  // namespace knurl
