#include "knurl/models/distributions/action_distribution.h"

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

ActionDistribution distribution_for(const Space& action_space) {
  if (const auto* discrete = action_space.as<Discrete>()) {
    return Categorical{.n = narrow(action_space, discrete->n)};
  }
  if (const auto* box = action_space.as<Box>()) {
    return DiagGaussian{.n = narrow(action_space, num_elements(box->shape))};
  }
  fail(ErrorKind::config,
       "action space {}: policies for it are not available yet; Discrete and "
       "Box are",
       action_space.text());
}

}  // namespace knurl
