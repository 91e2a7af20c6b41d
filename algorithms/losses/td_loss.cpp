#include "knurl/algorithms/losses/td_loss.h"

#include <algorithm>
#include <cmath>

namespace knurl {
namespace {

float loss_of(TdErrorLoss kind, float error) {
  const float size = std::abs(error);
  return kind == TdErrorLoss::mse || size <= 1.0F ? 0.5F * error * error : size - 0.5F;
}

float slope_of(TdErrorLoss kind, float error) {
  return kind == TdErrorLoss::mse ? error : std::clamp(error, -1.0F, 1.0F);
}

/// Row `row` of rows of `width` numbers.
const float* row_of(std::span<const float> numbers, std::size_t row, int width) {
  return numbers.data() + row * static_cast<std::size_t>(width);
}

/// The first of the largest values.
int best_of(const float* q, int actions) {
  return static_cast<int>(std::max_element(q, q + actions) - q);
}

/// Gathers the values of the actions taken.
class TakenValues {
 public:
  void add(float q) {
    sum_ += q;
    least_ = first_ ? q : std::min(least_, q);
    most_ = first_ ? q : std::max(most_, q);
    first_ = false;
  }
  void report(TdLoss& loss, std::size_t rows) const {
    loss.mean_q = sum_ / static_cast<double>(rows);
    loss.min_q = least_;
    loss.max_q = most_;
  }

 private:
  double sum_ = 0.0;
  float least_ = 0.0F;
  float most_ = 0.0F;
  bool first_ = true;
};

}  // namespace

TdLoss dqn_loss(const TdLossOptions& options, const QHead& head, const TdBatch& batch,
                const DqnOutputs& outputs, std::span<float> gradient) {
  const std::size_t rows = batch.actions.size();
  const float share = 1.0F / static_cast<float>(rows);
  TdLoss loss{.td_error = std::vector<float>(rows)};
  TakenValues taken;
  std::ranges::fill(gradient, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    const auto action = static_cast<std::size_t>(batch.actions[row]);
    const float* next = row_of(outputs.next_scores_target, row, head.actions);
    const float* judge = options.double_q ? row_of(outputs.next_q_online, row, head.actions) : next;
    const int best = best_of(judge, head.actions);
    const float target = batch.rewards[row] + batch.discounts[row] * next[best];
    const float q = row_of(outputs.scores, row, head.actions)[action];
    const float error = q - target;
    const float weight = batch.weights[row] * share;
    loss.total += weight * loss_of(options.error_loss, error);
    loss.td_error[row] = error;
    gradient[row * static_cast<std::size_t>(head.actions) + action] =
        weight * slope_of(options.error_loss, error);
    taken.add(q);
  }
  taken.report(loss, rows);
  return loss;
}

void project(const QHead& head, float reward, float discount, std::span<const float> probabilities,
             std::span<float> out) {
  const float width = (head.v_max - head.v_min) / static_cast<float>(head.atoms - 1);
  std::ranges::fill(out, 0.0F);
  for (int i = 0; i < head.atoms; ++i) {
    const float p = probabilities[static_cast<std::size_t>(i)];
    const float moved = std::clamp(reward + discount * head.support(i), head.v_min, head.v_max);
    const float place =
        std::clamp((moved - head.v_min) / width, 0.0F, static_cast<float>(head.atoms - 1));
    const float below = std::floor(place);
    const auto lower = static_cast<std::size_t>(below);
    out[lower] += p * (1.0F - (place - below));
    if (place > below) out[lower + 1] += p * (place - below);
  }
}

TdLoss categorical_loss(const TdLossOptions& options, const QHead& head, const TdBatch& batch,
                        const DqnOutputs& outputs, std::span<float> gradient) {
  const std::size_t rows = batch.actions.size();
  const auto atoms = static_cast<std::size_t>(head.atoms);
  const auto size = static_cast<std::size_t>(head.size());
  const float share = 1.0F / static_cast<float>(rows);
  TdLoss loss{.td_error = std::vector<float>(rows)};
  TakenValues taken;
  std::vector<float> next_q(static_cast<std::size_t>(head.actions));
  std::vector<float> p(atoms);
  std::vector<float> next(atoms);
  std::vector<float> target(atoms);
  std::ranges::fill(gradient, 0.0F);
  for (std::size_t row = 0; row < rows; ++row) {
    const float* next_scores = row_of(outputs.next_scores_target, row, head.size());
    if (!options.double_q) head.values(next_scores, next_q.data());
    const float* judge =
        options.double_q ? row_of(outputs.next_q_online, row, head.actions) : next_q.data();
    const int best = best_of(judge, head.actions);
    head.probabilities(next_scores, best, next);
    project(head, batch.rewards[row], batch.discounts[row], next, target);

    const auto action = static_cast<std::size_t>(batch.actions[row]);
    const float* logits = row_of(outputs.scores, row, head.size()) + action * atoms;
    head.probabilities(row_of(outputs.scores, row, head.size()), static_cast<int>(action), p);
    // log p = logit - log_sum, which stays finite where p has become 0
    const float largest = *std::max_element(logits, logits + atoms);
    float sum = 0.0F;
    for (std::size_t i = 0; i < atoms; ++i) sum += std::exp(logits[i] - largest);
    const float log_sum = largest + std::log(sum);
    const float weight = batch.weights[row] * share;
    float error = 0.0F;
    float q = 0.0F;
    for (std::size_t i = 0; i < atoms; ++i) {
      error -= target[i] * (logits[i] - log_sum);
      q += p[i] * head.support(static_cast<int>(i));
      gradient[row * size + action * atoms + i] = weight * (p[i] - target[i]);
    }
    loss.total += weight * error;
    loss.td_error[row] = error;
    taken.add(q);
  }
  taken.report(loss, rows);
  return loss;
}

}  // namespace knurl
