#pragma once

#include <cstdint>
#include <span>

#include "knurl/core/data/record_batch.h"
#include "knurl/models/distributions/action_distribution.h"
#include "knurl/models/distributions/scratch.h"

namespace knurl {

struct PpoLossOptions {
  float clip_param = 0.3F;
  float vf_clip_param = 10.0F;
  float vf_loss_coeff = 1.0F;
  float entropy_coeff = 0.0F;
  float kl_coeff = 0.2F;  ///< 0: no KL term
};

/// Means over a minibatch.
struct PpoLoss {
  double total = 0.0;
  double policy = 0.0;  ///< minus the clipped surrogate
  double vf = 0.0;      ///< clipped squared error of the values
  double kl = 0.0;      ///< KL(policy that acted || policy now)
  double entropy = 0.0;
  /// 1 - Var(target - value) / Var(target): 1 is a perfect critic, 0 a useless one.
  double vf_explained_var = 0.0;

  PpoLoss& operator+=(const PpoLoss& other);
};

/// What a net says of a minibatch: rows of distribution inputs, and a value a row.
struct PpoOutputs {
  std::span<const float> dist_inputs;
  std::span<const float> values;
};
/// d loss / d of the same.
struct PpoGradients {
  std::span<float> dist_inputs;
  std::span<float> values;
};

/// The clipped surrogate objective (Schulman et al. 2017, equation 7) with RLlib's value clipping
/// and KL penalty:
///   mean(-min(r A, clip(r, 1 - c, 1 + c) A) + vf_coeff min((V - target)^2, vf_clip)
///        - entropy_coeff H) + kl_coeff mean(KL).
/// Columns of the minibatch: actions, action_logp, action_dist_inputs, advantages, value_targets.
PpoLoss ppo_loss(const PpoLossOptions& options, const ActionDistribution& distribution,
                 const RecordBatch& minibatch, const PpoOutputs& outputs,
                 const PpoGradients& gradients, Scratch& scratch);

/// PPO's own: KL penalties that keep the policy near. The coefficient grows by half where the KL is
/// above twice the target, and halves where it is below half of it (section 4, with RLlib's
/// factor).
double adapted_kl_coeff(double kl_coeff, double kl, double kl_target);

/// Subtracts the mean of the numbers and divides by their standard deviation, at least 1e-4: as
/// RLlib does over a training batch.
void standardise(std::span<float> numbers);

/// Subtracts the mean and divides by the standard deviation of the population that the numbers are
/// a sample of, plus 1e-8: as stable-baselines3 does over a minibatch. A single number stays.
void standardise_sample(std::span<float> numbers);

}  // namespace knurl
