#pragma once

#include <span>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"
#include "knurl/core/config/foreign_keys.h"

namespace knurl {

/// The options of RLlib's algorithms and models that knurl does not have, and those of
/// stable-baselines3 that go by another name here.
std::span<const ForeignKey> rllib_keys();

/// Those that an algorithm can say something about: without remarks on options that it lacks.
std::vector<ForeignKey> rllib_keys_for(const AlgorithmConfig& config);

}  // namespace knurl
