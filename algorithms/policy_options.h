#pragma once

#include <string>

#include "knurl/algorithms/algorithm_config.h"

namespace knurl {

/// Whose policy it is, and the part of a config that is wrong where that is to be said.
struct PolicyOwner {
  std::string name = {};  ///< "training", "the checkpoint"
  std::string part = {};  ///< "evaluation_config: "
};

/// Throws Error(config), with the place in `other`, where an option of `other` makes another policy
/// than `owned`'s of the same weights: its net's layers and functions (`model`, but for what says
/// how it is made and learns), its filter and action mask, and AlgorithmConfig::own_policy_options.
/// Configs of different algorithms are not compared.
void require_same_policy(const AlgorithmConfig& owned, const AlgorithmConfig& other,
                         const PolicyOwner& owner);

}  // namespace knurl
