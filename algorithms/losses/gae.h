#pragma once

#include <span>

#include "knurl/algorithms/rollout/fragment.h"

namespace knurl {

struct GaeInput {
  std::span<const Segment> segments;
  std::span<const float> rewards;           ///< a row each
  std::span<const float> values;            ///< V(observation) of each row
  std::span<const float> bootstrap_values;  ///< V of each bootstrap row
  float gamma = 0.99F;
  float lambda = 1.0F;
};

/// Generalized advantage estimation (Schulman et al. 2016, equations 11 to 16) along each segment:
///   delta_t = r_t + gamma V(s_t+1) - V(s_t),  A_t = delta_t + gamma lambda A_t+1.
/// V after the last step is 0 where the segment terminated, else the bootstrap's; nothing passes
/// from one segment to another. Value targets are A_t + V(s_t).
void gae(const GaeInput& in, std::span<float> advantages, std::span<float> value_targets);

}  // namespace knurl
