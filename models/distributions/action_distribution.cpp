#include "knurl/models/distributions/action_distribution.h"

#include <numeric>

#include "knurl/core/base/error.h"

namespace knurl {

namespace {

/// A size that a net can put out.
int narrow(const Space& action_space, std::int64_t size) {
  constexpr std::int64_t kMost = 1'000'000;
  if (size > kMost) {
    fail(ErrorKind::config, "action space {}: {} is more than the {} that a policy can choose from",
         action_space.text(), size, kMost);
  }
  return static_cast<int>(size);
}

}  // namespace

ActionDistribution distribution_for(const Space& action_space, BoxDistribution box) {
  if (const auto* discrete = action_space.as<Discrete>()) {
    return Categorical{.n = narrow(action_space, discrete->n)};
  }
  if (const auto* space = action_space.as<Box>()) {
    const DiagGaussian gaussian{.n = narrow(action_space, num_elements(space->shape))};
    if (box == BoxDistribution::squashed_gaussian) return SquashedGaussian{gaussian};
    return gaussian;
  }
  if (const auto* multi = action_space.as<MultiDiscrete>()) {
    MultiCategorical out;
    for (const std::int64_t n : multi->nvec) out.sizes.push_back(narrow(action_space, n));
    narrow(action_space, std::accumulate(multi->nvec.begin(), multi->nvec.end(), std::int64_t{0}));
    return out;
  }
  if (const auto* binary = action_space.as<MultiBinary>()) {
    const int n = narrow(action_space, num_elements(binary->shape));
    return MultiCategorical{.sizes = std::vector<int>(static_cast<std::size_t>(n), 2)};
  }
  fail(ErrorKind::config,
       "action space {}: policies for it are not available yet; those for Discrete, MultiDiscrete, "
       "MultiBinary and Box are",
       action_space.text());
}

}  // namespace knurl
