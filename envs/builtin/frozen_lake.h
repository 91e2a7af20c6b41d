#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "knurl/envs/builtin/tabular_env.h"

namespace knurl {

/// The lakes that have names.
enum class LakeMap { small, large };

constexpr auto names(LakeMap) {
  return std::to_array<std::pair<LakeMap, std::string_view>>(
      {{LakeMap::small, "4x4"}, {LakeMap::large, "8x8"}});
}

/// Cross a frozen lake from the start (S) to the goal (G) without falling into a hole (H). Actions:
/// 0 left, 1 down, 2 right, 3 up; the shore stops a move. On slippery ice a step goes the way it
/// was meant with probability success_rate, else to either side. Reward 1 at the goal, else 0; goal
/// and holes end the episode. Observation: row * columns + column. As Gymnasium's FrozenLake-v1.
class FrozenLake final : public TabularEnv {
 public:
  struct Config {
    std::optional<std::vector<std::string>> desc = std::nullopt;
    LakeMap map_name = LakeMap::small;
    bool is_slippery = true;
    double success_rate = 1.0 / 3.0;
    std::array<double, 3> reward_schedule = {1.0, 0.0, 0.0};
    static void fields(auto& self, auto&& field) {
      field("desc", self.desc, "a map of one's own, a text a row: S start, F ice, H hole, G goal");
      field("map_name", self.map_name, "the map where desc gives none");
      field("is_slippery", self.is_slippery, "steps may go to a side");
      field("success_rate", self.success_rate,
            "probability that a step on slippery ice goes where it was meant", Range{0.0, 1.0});
      field("reward_schedule", self.reward_schedule, "rewards at the goal, in a hole, on ice",
            Range{-1e9, 1e9});
    }
  };

  /// Throws Error(config) for a map with ragged rows, other letters, no start or no goal.
  explicit FrozenLake(const Config& config);

  /// A line a row, the skater's cell in brackets.
  [[nodiscard]] std::string render() const override;
  [[nodiscard]] Image render_rgb() const override;

 private:
  FrozenLake(std::vector<std::string> map, const Config& config);

  std::vector<std::string> map_;
};

}  // namespace knurl
