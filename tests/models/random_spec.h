#pragma once

#include "knurl/core/base/rng.h"
#include "knurl/models/net_spec.h"

namespace knurl {

/// A small net of any shape: outputs "logits" and "values", with or without shared layers; or with
/// log standard deviations behind the logits.
inline NetSpec random_spec(Rng& rng, bool with_log_std = false) {
  const auto activation = static_cast<Activation>(rng.below(5));
  const auto stack = [&](std::uint64_t most) {
    HiddenLayers hidden{.activation = activation};
    for (std::uint64_t i = rng.below(most + 1); i > 0; --i) {
      hidden.units.push_back(1 + static_cast<int>(rng.below(70)));
    }
    return hidden;
  };
  HeadSpec policy{.name = "policy",
                  .output = "logits",
                  .size = 1 + static_cast<int>(rng.below(18)),
                  .hidden = stack(2),
                  .init_norm = 1.0};
  if (with_log_std && rng.below(2) == 0) {
    policy.log_std = {.kind = rng.below(2) == 0 ? LayerKind::free : LayerKind::sde_log_std,
                      .size = policy.size,
                      .fresh = -0.7};
  }
  return make_net(
      1 + static_cast<int>(rng.below(20)), stack(2),
      {policy, {.name = "value", .output = "values", .hidden = stack(2), .init_norm = 1.0}});
}

}  // namespace knurl
