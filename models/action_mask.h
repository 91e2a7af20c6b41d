#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "knurl/core/config/opt.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

/// The logit of an action that is not allowed: finite, and e to its power is 0, so that the
/// action's probability and its part in entropies, divergences and gradients are exactly 0.
inline constexpr float kMaskedLogit = -1e38F;

/// Which part of observations says what actions are allowed: of a Dict the entry, not one of an
/// entry's, that action_mask_key names ("action_mask", as in RLlib), numbers of which 0 forbids.
/// There is one for each choice of a Discrete action space; of a MultiDiscrete or MultiBinary one
/// those of all its choices in a row. Nets read the rest of the observation: what else the Dict
/// has, or where that is one thing, that thing itself.
class ActionMask {
 public:
  /// Observations without a mask.
  ActionMask() = default;
  /// An empty key means no mask; so does a Box of actions. Throws Error(config) naming both spaces
  /// where the entry has another number of numbers than there are choices, or where it is all there
  /// is to see.
  ActionMask(const SpaceLayout& observations, const SpaceLayout& actions, std::string_view key);

  explicit operator bool() const { return leaf_.has_value(); }
  /// The mask's leaf.
  [[nodiscard]] std::optional<std::size_t> leaf() const { return leaf_; }

  /// What nets read; `observations` itself where there is no mask.
  [[nodiscard]] const SpaceLayout& rest(const SpaceLayout& observations) const {
    return leaf_ ? rest_ : observations;
  }
  /// Rows of it. They live no longer than this.
  [[nodiscard]] ConstRows rest(const ConstRows& observations) const {
    return leaf_ ? observations.part(rest_, rest_leaves_) : observations;
  }

  /// Whether each choice has an action that is allowed.
  [[nodiscard]] bool allows_any(const ConstRows& observations, std::int64_t row) const;
  /// Sets the logits [choices] of a row's actions that are not allowed.
  void apply(const ConstRows& observations, std::int64_t row, std::span<float> logits) const;

 private:
  std::optional<std::size_t> leaf_;
  SpaceLayout rest_;
  std::vector<std::size_t> rest_leaves_;
  std::vector<int> choices_;  ///< actions of each
};

/// Throws Error(config) where somebody gave an action_mask_key that names no entry of these
/// observations, or a mask of actions that are no choices; where the key is the default one, warns
/// once of what is called like it and is no mask.
void check_mask_key(const SpaceLayout& observations, const SpaceLayout& actions,
                    const Opt<std::string>& key);

/// Masks logits as those of the policy that acted were.
void mask_alike(std::span<const float> acted, std::span<float> logits);

}  // namespace knurl
