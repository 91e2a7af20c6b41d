#pragma once

#include "knurl/envs/builtin/tabular_env.h"

namespace knurl {

/// Walk along a cliff from the lower left corner of 4 x 12 cells to the lower right one. Actions:
/// 0 up, 1 right, 2 down, 3 left; walls stop a move. Reward -1 a step; off the cliff, the cells
/// between the corners, -100 and back to the start. Only the goal ends an episode. Observation:
/// 12 * row + column. As Gymnasium's CliffWalking-v1 (Sutton and Barto 2018, example 6.6).
class CliffWalking final : public TabularEnv {
 public:
  struct Config {
    bool is_slippery = false;
    static void fields(auto& self, auto&& field) {
      field("is_slippery", self.is_slippery,
            "a step goes where it was meant, or to either side, a third each");
    }
  };

  explicit CliffWalking(Config config);

  /// A line a row: S start, G goal, x cliff; the walker's cell in brackets.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;
};

}  // namespace knurl
