#include "knurl/algorithms/dqn/parameter_noise.h"

#include <cmath>

#include "knurl/models/distributions/categorical.h"

namespace knurl {

Weights ParameterNoise::perturbed(Weights weights) const {
  Rng rng = rng_.split("round", round_);
  for (const ColumnSpec& column : weights.tensors.columns()) {
    if (column.name.starts_with("filter.")) continue;
    for (float& x : weights.tensors.column<float>(column.name).span()) {
      x += static_cast<float>(stddev_ * rng.normal());
    }
  }
  return weights;
}

void ParameterNoise::adapt(std::span<const float> plain_q, std::span<const float> noisy_q,
                           int actions, double epsilon) {
  // epsilon-greedy's distance from its greedy policy: -log(1 - epsilon + epsilon / n)
  const double wanted = -std::log(1.0 - epsilon + epsilon / actions);
  const double distance = policy_distance(plain_q, noisy_q, actions);
  stddev_ = distance <= wanted ? stddev_ * 1.01 : stddev_ / 1.01;
  ++round_;
}

double policy_distance(std::span<const float> plain_q, std::span<const float> noisy_q,
                       int actions) {
  const Categorical categorical{.n = actions};
  const auto rows = static_cast<std::ptrdiff_t>(plain_q.size()) / actions;
  double sum = 0.0;
  for (std::ptrdiff_t row = 0; row < rows; ++row) {
    sum += categorical.kl_from(plain_q.data() + row * actions, noisy_q.data() + row * actions);
  }
  return sum / static_cast<double>(rows);
}

}  // namespace knurl
