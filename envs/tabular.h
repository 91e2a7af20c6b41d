#pragma once

#include <functional>
#include <span>
#include <vector>

namespace knurl {

/// One of the things that may follow a state and an action.
struct Transition {
  double probability = 1.0;
  int next_state = 0;
  double reward = 0.0;
  bool terminated = false;

  bool operator==(const Transition&) const = default;
};

/// All there is to know of a world whose states and actions are numbered from 0: what may follow
/// each state and action, and where episodes start.
class TransitionTable {
 public:
  /// What may follow a state and an action.
  using Rule = std::function<std::vector<Transition>(int state, int action)>;

  /// `initial` is the probability of each state to be the first. Throws Error(env) where
  /// probabilities are not at least 0 or do not sum to 1, or a next state is none.
  TransitionTable(int num_actions, std::vector<double> initial, const Rule& rule);

  [[nodiscard]] int num_states() const { return static_cast<int>(initial_.size()); }
  [[nodiscard]] int num_actions() const { return num_actions_; }
  [[nodiscard]] const std::vector<double>& initial() const { return initial_; }
  [[nodiscard]] std::span<const Transition> transitions(int state, int action) const {
    const std::size_t pair =
        static_cast<std::size_t>(state) * static_cast<std::size_t>(num_actions_) +
        static_cast<std::size_t>(action);
    return std::span(transitions_).subspan(begin_[pair], begin_[pair + 1] - begin_[pair]);
  }

 private:
  int num_actions_;
  std::vector<double> initial_;
  std::vector<Transition> transitions_;  ///< by state, then action
  std::vector<std::size_t> begin_;       ///< of each pair's transitions, and the end
};

/// The expected return, discounted by `gamma` a step, of an episode in which `policy` acts for at
/// most `max_steps` steps; rewards after that do not count. `policy` has the probability of each
/// action in each state: num_states rows of num_actions. Throws Error(env) where it has another
/// size. Takes max_steps passes over the table.
double exact_value(const TransitionTable& table, std::span<const double> policy, double gamma,
                   int max_steps);

/// The best that can be done within a number of steps.
struct OptimalPlan {
  double value = 0.0;             ///< expected return of an episode
  std::vector<int> actions = {};  ///< best in each state while all steps are left
};

/// The greatest expected return, discounted by `gamma` a step, that any way to act has within
/// `max_steps` steps (value iteration backwards from the end; Bellman 1957). The best way may act
/// otherwise when few steps are left, so that no fixed policy need reach this value. Of actions
/// that are equally good the first counts.
OptimalPlan optimal_plan(const TransitionTable& table, double gamma, int max_steps);

}  // namespace knurl
