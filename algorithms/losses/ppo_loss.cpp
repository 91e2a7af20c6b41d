#include "knurl/algorithms/losses/ppo_loss.h"

#include <algorithm>
#include <cmath>

#include "knurl/models/columns.h"
#include "knurl/models/distributions/terms.h"
#include "knurl/models/fast/kernels.h"

namespace knurl {
namespace {

/// 1 - Var(target - value) / Var(target).
double explained_variance(std::span<const float> targets, std::span<const float> values) {
  double sums[4] = {};  // of targets, their squares, errors, their squares
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const double target = targets[i];
    const double error = target - values[i];
    sums[0] += target;
    sums[1] += target * target;
    sums[2] += error;
    sums[3] += error * error;
  }
  const auto n = static_cast<double>(targets.size());
  const double target_variance = sums[1] / n - (sums[0] / n) * (sums[0] / n);
  const double error_variance = sums[3] / n - (sums[2] / n) * (sums[2] / n);
  return target_variance > 0.0 ? std::max(-1.0, 1.0 - error_variance / target_variance) : 0.0;
}

/// The mean of some numbers, and the sum of their squared distances from it.
std::pair<double, double> spread_of(std::span<const float> numbers) {
  double sum = 0.0;
  for (const float x : numbers) sum += x;
  const double mean = sum / static_cast<double>(numbers.size());
  double squares = 0.0;
  for (const float x : numbers) squares += (x - mean) * (x - mean);
  return {mean, squares};
}

template <class Distribution>
PpoLoss loss_of_rows(const PpoLossOptions& options, const Distribution& distribution,
                     const RecordBatch& minibatch, const PpoOutputs& outputs,
                     const PpoGradients& gradients, Scratch& scratch) {
  using Element = typename Distribution::Element;
  const auto rows = static_cast<std::size_t>(minibatch.rows());
  const auto actions = minibatch.column<Element>(column::kActions).span();
  const auto old_log_prob = minibatch.column<float>(column::kActionLogProb).span();
  const auto advantages = minibatch.column<float>(column::kAdvantages).span();
  const auto targets = minibatch.column<float>(column::kValueTargets).span();
  const float share = 1.0F / static_cast<float>(rows);
  scratch.clear();
  const Terms<Distribution> now(distribution, outputs.dist_inputs, minibatch.rows(), scratch);
  const Terms<Distribution> old(distribution, minibatch.column<float>(column::kDistInputs).span(),
                                minibatch.rows(), scratch);
  const std::size_t padded = fast::padded(static_cast<int>(rows));
  const std::span<float> ratios(scratch.take(padded), padded);
  const std::span<float> entropies(scratch.take(padded), padded);
  const std::span<float> kls(scratch.take(padded), padded);

  // r = p(action) / p_old(action)
  now.log_prob(actions, ratios);
  for (std::size_t row = 0; row < rows; ++row) ratios[row] -= old_log_prob[row];
  std::fill(ratios.begin() + static_cast<std::ptrdiff_t>(rows), ratios.end(), 0.0F);
  fast::kernels().exp(ratios.data(), ratios.data(), padded);
  now.entropy(entropies);
  now.kl_from(old, kls);

  PpoLoss loss;
  for (std::size_t row = 0; row < rows; ++row) {
    // policy: the smaller of the plain and the clipped surrogate; clipped rows have no gradient
    const float plain = advantages[row] * ratios[row];
    const float clipped = advantages[row] * std::clamp(ratios[row], 1.0F - options.clip_param,
                                                       1.0F + options.clip_param);
    loss.policy -= plain <= clipped ? plain : clipped;
    ratios[row] = plain <= clipped ? -plain * share : 0.0F;  // from here on weights of log p

    // value: squared error, without gradient beyond the clip
    const float error = outputs.values[row] - targets[row];
    const float squared = error * error;
    const bool beyond = squared > options.vf_clip_param;
    loss.vf += beyond ? options.vf_clip_param : squared;
    gradients.values[row] = beyond ? 0.0F : options.vf_loss_coeff * 2.0F * error * share;

    loss.entropy += entropies[row];
    loss.kl += kls[row];
  }
  now.gradient(actions, old,
               {.log_prob = ratios,
                .entropy = -options.entropy_coeff * share,
                .kl = options.kl_coeff * share},
               gradients.dist_inputs);
  for (double* mean : {&loss.policy, &loss.vf, &loss.entropy, &loss.kl}) *mean *= share;
  loss.total = loss.policy + options.vf_loss_coeff * loss.vf -
               options.entropy_coeff * loss.entropy + options.kl_coeff * loss.kl;
  loss.vf_explained_var = explained_variance(targets, outputs.values);
  return loss;
}

}  // namespace

PpoLoss& PpoLoss::operator+=(const PpoLoss& other) {
  total += other.total;
  policy += other.policy;
  vf += other.vf;
  kl += other.kl;
  entropy += other.entropy;
  vf_explained_var += other.vf_explained_var;
  return *this;
}

PpoLoss ppo_loss(const PpoLossOptions& options, const ActionDistribution& distribution,
                 const RecordBatch& minibatch, const PpoOutputs& outputs,
                 const PpoGradients& gradients, Scratch& scratch) {
  return std::visit(
      [&](const auto& d) {
        return loss_of_rows(options, d, minibatch, outputs, gradients, scratch);
      },
      distribution);
}

double adapted_kl_coeff(double kl_coeff, double kl, double kl_target) {
  if (kl > 2.0 * kl_target) return kl_coeff * 1.5;
  if (kl < 0.5 * kl_target) return kl_coeff * 0.5;
  return kl_coeff;
}

void standardise(std::span<float> numbers) {
  const auto [mean, squares] = spread_of(numbers);
  const double deviation = std::sqrt(squares / static_cast<double>(numbers.size()));
  const double scale = 1.0 / std::max(1e-4, deviation);
  for (float& x : numbers) x = static_cast<float>((x - mean) * scale);
}

void standardise_sample(std::span<float> numbers) {
  if (numbers.size() < 2) return;
  const auto [mean, squares] = spread_of(numbers);
  const double deviation = std::sqrt(squares / static_cast<double>(numbers.size() - 1));
  for (float& x : numbers) x = static_cast<float>((x - mean) / (deviation + 1e-8));
}

}  // namespace knurl
