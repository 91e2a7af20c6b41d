#include "knurl/algorithms/losses/gae.h"

namespace knurl {

void gae(const GaeInput& in, std::span<float> advantages, std::span<float> value_targets) {
  for (const Segment& segment : in.segments) {
    const bool terminated = segment.ending == Ending::terminated;
    float next_value =
        terminated ? 0.0F : in.bootstrap_values[static_cast<std::size_t>(segment.bootstrap_row)];
    float advantage = 0.0F;
    for (std::int64_t step = segment.length - 1; step >= 0; --step) {
      const auto row = static_cast<std::size_t>(segment.row(step));
      const float value = in.values[row];
      const float delta = in.rewards[row] + in.gamma * next_value - value;
      advantage = delta + in.gamma * in.lambda * advantage;
      advantages[row] = advantage;
      value_targets[row] = advantage + value;
      next_value = value;
    }
  }
}

}  // namespace knurl
