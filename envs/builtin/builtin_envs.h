#pragma once

#include <vector>

#include "knurl/envs/registry.h"

namespace knurl {

/// The envs that every program knows, with the names that Gymnasium and RLlib give them.
std::vector<EnvEntry> builtin_envs();

}  // namespace knurl
