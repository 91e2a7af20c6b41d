#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "knurl/algorithms/algorithm_config.h"

namespace knurl {

/// An algorithm as config files know it.
struct AlgorithmEntry {
  std::string name = {};      ///< "PPO"
  std::string sentence = {};  ///< what it is
  std::function<std::unique_ptr<AlgorithmConfig>()> make_config = {};
};

/// Makes an algorithm known under a name. Throws Error(config) where the name is taken. Safe from
/// any thread.
void register_algorithm(AlgorithmEntry entry);

/// All known algorithms in alphabetical order.
std::vector<AlgorithmEntry> registered_algorithms();

/// A config with the algorithm's defaults. Names are found whatever their case. Throws
/// Error(config), naming the nearest, where there is none.
std::unique_ptr<AlgorithmConfig> make_config(std::string_view algorithm);

}  // namespace knurl
