#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "knurl/models/custom_layer.h"

namespace knurl {

/// Tries what a custom layer promises, by rows and tensors drawn from `seed`: that a fresh model's
/// tensors are finite, that rows of y are written whole and do not depend on the rows beside them,
/// bit for bit, and that the gradients are those of finite differences (to about 1 %; places where
/// the function has a kink are left out, and none may be missing altogether). Returns what is
/// broken, a sentence each.
std::vector<std::string> check_layer(const CustomLayer& layer, std::uint64_t seed = 0);

}  // namespace knurl
