#pragma once

#include <map>
#include <vector>

#include "knurl/algorithms/learner/observation_filter.h"
#include "knurl/algorithms/rollout/fragment.h"

namespace knurl {

/// Divides rewards by the standard deviation of the discounted sums of rewards so far, and cuts
/// them to [-10, 10]: what learning reads; episode metrics keep the env's own. Gymnasium's
/// NormalizeReward and stable-baselines3's VecNormalize, with one statistic for the whole run.
/// Rewards are scaled once, when they are sampled: what a replay buffer holds keeps the scale of
/// its time, where stable-baselines3 scales anew what is drawn.
class RewardFilter {
 public:
  /// `epsilon` is added to the variance.
  explicit RewardFilter(double gamma, double epsilon = 1e-8)
      : gamma_(gamma), epsilon_(epsilon), moments_(1) {}

  /// Takes in a round of fragments, then scales their rewards.
  void apply(std::vector<Fragment>& fragments);
  /// Begins the sums of running episodes anew: some of their steps were lost.
  void forget_sums() { sums_.clear(); }

  void save(CheckpointData& out) const;
  void load(const CheckpointData& in);

 private:
  double gamma_;
  double epsilon_;
  RunningMoments moments_;
  std::map<int, double> sums_;  ///< each env's discounted sum in its running episode
};

}  // namespace knurl
