#pragma once

#include <span>

namespace knurl {

// What the rules of temporal-difference control expect of a state, from the values [actions] that a
// table has for it. SARSA (Sutton and Barto 2018, equation 6.7) needs no function: it is the value
// of the action taken there.

/// The best value: Q-learning (Watkins and Dayan 1992; Sutton and Barto 2018, equation 6.8).
float greedy_value(std::span<const float> values);

/// The mean value of the actions of an epsilon-greedy policy, whose greedy action is the first of
/// the best: expected SARSA (van Seijen et al. 2009; Sutton and Barto 2018, equation 6.9).
float epsilon_greedy_value(std::span<const float> values, float epsilon);

/// The value that `judge` has for the action that `values` have as the first of the best: double
/// Q-learning (van Hasselt 2010, algorithm 1), where `values` are those of the table that learns.
float double_value(std::span<const float> values, std::span<const float> judge);

/// One step, and what is expected of the state after it.
struct TdStep {
  float reward = 0.0F;
  float discount = 0.0F;  ///< gamma; 0 after a terminated step: nothing is to be expected
  float next_value = 0.0F;
};

/// Moves a value of a table towards the step's target: Q += step_size (reward + discount next_value
/// - Q). Returns the error in the brackets, before the update; where it is not finite, the value
/// stays as it was.
float q_update(float& value, const TdStep& step, float step_size);

}  // namespace knurl
