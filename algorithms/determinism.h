#pragma once

#include <string_view>

#include "knurl/algorithms/algorithm_config.h"

namespace knurl {

/// Throws Error(config) where options of a deterministic run would let clocks or the number of
/// cores decide what is learnt or reported.
void check_deterministic(const CommonOptions& options);

/// Whether a metric, by the name under which results hold it, says what clocks and machines do: two
/// runs that learn the same differ in it.
bool is_timed(std::string_view metric);

}  // namespace knurl
