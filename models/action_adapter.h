#pragma once

#include <cstdint>
#include <vector>

#include "knurl/core/data/record_batch.h"
#include "knurl/core/spaces/layout.h"
#include "knurl/models/distributions/action_distribution.h"

namespace knurl {

/// What happens to a policy's numbers on the way to a Box of actions.
struct ActionOptions {
  /// Policies live in [-1, 1]; what they say is cut to that and stretched to the bounds. Dimensions
  /// without two finite bounds are only cut to the one they have.
  bool normalize_actions = true;
  /// Cut to the bounds. Without effect beside normalize_actions.
  bool clip_actions = false;
  /// Take the tanh of Box actions first: those of a SquashedGaussian.
  BoxDistribution box = BoxDistribution::gaussian;
};

/// From the policy's actions (the column "actions": indices from 0, or vectors) to the env's. The
/// policy's stay what they were: their log-probabilities belong to them.
class ActionAdapter {
 public:
  ActionAdapter(const SpaceLayout& space, const ActionOptions& options);

  /// Rows [0, rows) of the column "actions" of `policy_actions` into `env_actions`.
  void to_env(const RecordBatch& policy_actions, std::int64_t rows, const Rows& env_actions) const;

 private:
  struct Dimension {
    double low = 0.0;
    double high = 0.0;
    bool normalize = false;
    bool clip = false;
  };

  void choices_to_env(const RecordBatch& policy_actions, std::int64_t rows,
                      const Rows& env_actions) const;

  SpaceLayout space_;
  bool squash_;
  std::vector<Dimension> dimensions_;  ///< of a Box; empty for others
};

}  // namespace knurl
