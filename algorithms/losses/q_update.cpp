#include "knurl/algorithms/losses/q_update.h"

#include <algorithm>
#include <cmath>

namespace knurl {

float q_update(std::span<float> table, int num_actions, const TableTransition& transition,
               const QUpdateOptions& options) {
  const auto row = [&](std::int64_t state) {
    return table.subspan(static_cast<std::size_t>(state * num_actions),
                         static_cast<std::size_t>(num_actions));
  };
  const float next =
      transition.terminated ? 0.0F : *std::ranges::max_element(row(transition.next_state));
  float& value = row(transition.state)[static_cast<std::size_t>(transition.action)];
  const float error = transition.reward + options.gamma * next - value;
  if (std::isfinite(error)) value += options.step_size * error;
  return error;
}

}  // namespace knurl
