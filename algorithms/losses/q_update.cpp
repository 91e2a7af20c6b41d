#include "knurl/algorithms/losses/q_update.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace knurl {

float greedy_value(std::span<const float> values) {
  return *std::ranges::max_element(values);
}

float epsilon_greedy_value(std::span<const float> values, float epsilon) {
  const float mean =
      std::accumulate(values.begin(), values.end(), 0.0F) / static_cast<float>(values.size());
  return (1.0F - epsilon) * greedy_value(values) + epsilon * mean;
}

float double_value(std::span<const float> values, std::span<const float> judge) {
  const auto best = std::ranges::max_element(values) - values.begin();
  return judge[static_cast<std::size_t>(best)];
}

float q_update(float& value, const TdStep& step, float step_size) {
  const float error = step.reward + step.discount * step.next_value - value;
  if (std::isfinite(error)) value += step_size * error;
  return error;
}

}  // namespace knurl
