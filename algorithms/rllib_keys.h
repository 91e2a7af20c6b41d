#pragma once

#include <span>

#include "knurl/core/config/foreign_keys.h"

namespace knurl {

/// The options of RLlib's algorithms and models that knurl does not have, and those of
/// stable-baselines3 that go by another name here.
std::span<const ForeignKey> rllib_keys();

}  // namespace knurl
