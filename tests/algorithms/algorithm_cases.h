#pragma once

#include <memory>
#include <string>
#include <vector>

#include "knurl/algorithms/algorithm.h"

namespace knurl {

/// An algorithm, or one of the ways in which it can learn.
struct AlgorithmCase {
  std::string name;
  std::string algorithm;
  std::string options = "{}";
};

/// Every registered algorithm, and ways that differ in what they keep from step to step.
std::vector<AlgorithmCase> algorithm_cases();

/// Small options with which a case learns something on six envs in all, with more as YAML.
std::unique_ptr<AlgorithmConfig> config_of(const AlgorithmCase& which,
                                           const std::string& more = "{}");

/// All of its numbers in their order.
std::vector<float> weights_of(Algorithm& algorithm);

}  // namespace knurl
