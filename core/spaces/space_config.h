#pragma once

#include <string>

#include "knurl/core/config/value_type.h"
#include "knurl/core/spaces/space.h"

namespace knurl {

/// Spaces in config files, as options of type Space: a map of a `type` and what Gymnasium calls the
/// rest.
///
///   {type: Discrete, n: 4, start: 0}
///   {type: MultiDiscrete, nvec: [2, 5]}
///   {type: MultiBinary, shape: [8]}
///   {type: Box, low: -1, high: [1, 2], shape: [2], dtype: float32}
///   {type: Tuple, spaces: [{type: Discrete, n: 2}, …]}
///   {type: Dict, spaces: {speed: {type: Box, …}, …}}
///
/// A Box without a shape has that of its list of bounds, else [1]. Throws Error(config) with place
/// and path for keys that a type does not have and for a space without values.
template <>
struct ValueType<Space> {
  static std::string text() { return "space"; }
  static Space read(const ConfigValue& value, const std::string& path, const Range& range);
  static ConfigValue write(const Space& space);
  static void check(const Space&, const std::string&, const Range&) {}
};

}  // namespace knurl
