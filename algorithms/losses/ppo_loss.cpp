#include "knurl/algorithms/losses/ppo_loss.h"

#include <algorithm>
#include <cmath>

#include "knurl/models/columns.h"

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
                     const PpoGradients& gradients) {
  using Element = typename Distribution::Element;
  const auto actions = minibatch.column<Element>(column::kActions);
  const auto old_log_prob = minibatch.column<float>(column::kActionLogProb);
  const auto old_inputs = minibatch.column<float>(column::kDistInputs);
  const auto advantages = minibatch.column<float>(column::kAdvantages);
  const auto targets = minibatch.column<float>(column::kValueTargets);
  const float share = 1.0F / static_cast<float>(minibatch.rows());
  const int width = distribution.inputs();

  PpoLoss loss;
  std::ranges::fill(gradients.dist_inputs, 0.0F);
  for (std::int64_t row = 0; row < minibatch.rows(); ++row) {
    const float* in = outputs.dist_inputs.data() + row * width;
    float* gradient = gradients.dist_inputs.data() + row * width;
    const Element* action = actions.row(row).data();
    const float advantage = advantages[row];

    // policy: the smaller of the plain and the clipped surrogate; clipped rows have no gradient
    const float ratio = std::exp(distribution.log_prob(in, action) - old_log_prob[row]);
    const float clipped = std::clamp(ratio, 1.0F - options.clip_param, 1.0F + options.clip_param);
    const bool plain = advantage * ratio <= advantage * clipped;
    loss.policy -= plain ? advantage * ratio : advantage * clipped;
    if (plain) {
      distribution.add_log_prob_gradient(in, action, -advantage * ratio * share, gradient);
    }

    // value: squared error, without gradient beyond the clip
    const auto at = static_cast<std::size_t>(row);
    const float error = outputs.values[at] - targets[row];
    const float squared = error * error;
    const bool beyond = squared > options.vf_clip_param;
    loss.vf += beyond ? options.vf_clip_param : squared;
    gradients.values[at] = beyond ? 0.0F : options.vf_loss_coeff * 2.0F * error * share;

    loss.entropy += distribution.entropy(in);
    if (options.entropy_coeff != 0.0F) {
      distribution.add_entropy_gradient(in, -options.entropy_coeff * share, gradient);
    }
    const float* old = old_inputs.row(row).data();
    loss.kl += distribution.kl_from(old, in);
    if (options.kl_coeff != 0.0F) {
      distribution.add_kl_gradient(old, in, options.kl_coeff * share, gradient);
    }
  }
  for (double* mean : {&loss.policy, &loss.vf, &loss.entropy, &loss.kl}) *mean *= share;
  loss.total = loss.policy + options.vf_loss_coeff * loss.vf -
               options.entropy_coeff * loss.entropy + options.kl_coeff * loss.kl;
  loss.vf_explained_var = explained_variance(targets.span(), outputs.values);
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
                 const PpoGradients& gradients) {
  return std::visit(
      [&](const auto& d) { return loss_of_rows(options, d, minibatch, outputs, gradients); },
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
