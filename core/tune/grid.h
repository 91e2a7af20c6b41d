#pragma once

#include <string>
#include <vector>

#include "knurl/core/config/problems.h"
#include "knurl/core/config/value.h"

namespace knurl::tune {

/// A value in which every grid search is decided.
struct GridPoint {
  ConfigValue value = {};
  /// Which one, and what it chose: "2_lr=0.001,fcnet_hiddens=[64,64]", counted from 0. A choice has
  /// the last part of its path, or all of it where two end alike. Empty where nothing is searched.
  std::string tag = {};
};

/// Every combination of what the `{grid_search: [a, b]}` in a value offer, whatever their depth; as
/// in Tune the first search changes fastest. One point, the value itself, where there is none. Adds
/// to `problems` a search without values, beside other keys or inside another one, and leaves it
/// out; 10,000 combinations are the most. `path` names the value.
std::vector<GridPoint> grid_points(ConfigValue value, const std::string& path, Problems& problems);

}  // namespace knurl::tune
