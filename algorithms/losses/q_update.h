#pragma once

#include <cstdint>
#include <span>

namespace knurl {

/// One transition of a finite problem.
struct TableTransition {
  std::int64_t state = 0;
  std::int64_t action = 0;
  float reward = 0.0F;
  std::int64_t next_state = 0;
  bool terminated = false;  ///< nothing follows next_state: its value is 0
};

struct QUpdateOptions {
  float step_size = 0.1F;
  float gamma = 0.99F;
};

/// Q-learning (Watkins and Dayan 1992; Sutton and Barto 2018, equation 6.8) on a table [states,
/// actions]: Q(s, a) += step_size (r + gamma max_a' Q(s', a') - Q(s, a)). Returns the error in the
/// brackets, before the update; where it is not finite, the table stays as it was.
float q_update(std::span<float> table, int num_actions, const TableTransition& transition,
               const QUpdateOptions& options);

}  // namespace knurl
