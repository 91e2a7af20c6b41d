#include "knurl/models/distributions/action_distribution.h"

#include "knurl/core/base/error.h"

namespace knurl {

ActionDistribution distribution_for(const Space& action_space) {
  if (const auto* discrete = action_space.as<Discrete>()) {
    return Categorical{.n = static_cast<int>(discrete->n)};
  }
  if (const auto* box = action_space.as<Box>()) {
    return DiagGaussian{.n = static_cast<int>(num_elements(box->shape))};
  }
  fail(ErrorKind::config,
       "action space {}: policies for it are not available yet; Discrete and "
       "Box are",
       action_space.text());
}

}  // namespace knurl
