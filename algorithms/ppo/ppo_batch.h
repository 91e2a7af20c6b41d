#pragma once

#include <cstdint>
#include <vector>

#include "knurl/algorithms/rollout/fragment.h"
#include "knurl/core/spaces/layout.h"

namespace knurl {

/// What PPO learns from: the rows of some fragments as a net and the loss read them.
struct PpoBatch {
  /// Columns: "net_inputs" (observations as numbers), actions, action_logp, action_dist_inputs,
  /// vf_preds, advantages, value_targets.
  RecordBatch rows;
  /// The rows by env, then by time.
  std::vector<std::int32_t> order;
};

/// How actions are judged.
struct JudgeOptions {
  double gamma = 0.99;
  double lambda = 1.0;
  /// Without one nothing is expected of states: advantages are discounted sums of rewards.
  bool use_critic = true;
};

/// Gathers fragments and estimates advantages and value targets (losses/gae.h).
PpoBatch make_ppo_batch(const std::vector<Fragment>& fragments, const SpaceLayout& observations,
                        const JudgeOptions& options);

/// Gives the advantages mean 0 and standard deviation 1 over the batch.
void standardise_advantages(PpoBatch& batch);

}  // namespace knurl
