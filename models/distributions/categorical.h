#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "knurl/core/base/rng.h"

namespace knurl {

/// One of n actions, with probabilities softmax(inputs). Inputs are logits, or Q values where only
/// the mode counts.
struct Categorical {
  using Element = std::int64_t;
  static constexpr bool kScalar = true;  ///< an action is one number, not a vector

  int n = 1;

  [[nodiscard]] int inputs() const { return n; }
  [[nodiscard]] int width() const { return 1; }

  /// Draws one number. An action whose probability is 0 is never chosen.
  void sample(const float* logits, Rng& rng, Element* action) const {
    const Softmax softmax(logits, n);
    const double u = rng.uniform() * static_cast<double>(softmax.sum);
    double below = 0.0;
    Element chosen = 0;
    for (int i = 0; i < n; ++i) {
      const float weight = std::exp(logits[i] - softmax.largest);
      if (weight <= kNegligible * softmax.sum) continue;
      chosen = i;
      below += static_cast<double>(weight);
      if (u < below) break;
    }
    *action = chosen;
  }
  /// The likeliest action; of equals the first.
  void mode(const float* logits, Element* action) const {
    *action = std::max_element(logits, logits + n) - logits;
  }

  [[nodiscard]] float log_prob(const float* logits, const Element* action) const {
    return logits[*action] - Softmax(logits, n).log_sum();
  }
  [[nodiscard]] float entropy(const float* logits) const {
    const Softmax softmax(logits, n);
    const float log_sum = softmax.log_sum();
    float sum = 0.0F;
    for (int i = 0; i < n; ++i) sum -= softmax.p(logits[i]) * (logits[i] - log_sum);
    return sum;
  }
  /// KL(other || this), from both inputs.
  [[nodiscard]] float kl_from(const float* other, const float* logits) const {
    const Softmax theirs(other, n);
    const Softmax ours(logits, n);
    const float shift = theirs.log_sum() - ours.log_sum();
    float sum = 0.0F;
    for (int i = 0; i < n; ++i) sum += theirs.p(other[i]) * (other[i] - logits[i] - shift);
    return sum;
  }

  /// Adds weight * d log_prob / d logits to the gradient: one-hot(action) - p.
  void add_log_prob_gradient(const float* logits, const Element* action, float weight,
                             float* gradient) const {
    const Softmax softmax(logits, n);
    for (int i = 0; i < n; ++i) {
      gradient[i] += weight * ((i == *action ? 1.0F : 0.0F) - softmax.p(logits[i]));
    }
  }
  /// Adds weight * d entropy / d logits: -p (log p + entropy).
  void add_entropy_gradient(const float* logits, float weight, float* gradient) const {
    const Softmax softmax(logits, n);
    const float log_sum = softmax.log_sum();
    const float total = entropy(logits);
    for (int i = 0; i < n; ++i) {
      gradient[i] -= weight * softmax.p(logits[i]) * (logits[i] - log_sum + total);
    }
  }
  /// Adds weight * d KL(other || this) / d logits: p - p_other.
  void add_kl_gradient(const float* other, const float* logits, float weight,
                       float* gradient) const {
    const Softmax theirs(other, n);
    const Softmax ours(logits, n);
    for (int i = 0; i < n; ++i) gradient[i] += weight * (ours.p(logits[i]) - theirs.p(other[i]));
  }

 private:
  /// Sums of floats are not exact: what they miss must not go to an action that cannot be.
  static constexpr float kNegligible = 1e-12F;

  struct Softmax {
    Softmax(const float* logits, int n) : largest(*std::max_element(logits, logits + n)) {
      for (int i = 0; i < n; ++i) sum += std::exp(logits[i] - largest);
    }
    [[nodiscard]] float p(float logit) const { return std::exp(logit - largest) / sum; }
    [[nodiscard]] float log_sum() const { return largest + std::log(sum); }

    float largest;
    float sum = 0.0F;
  };
};

}  // namespace knurl
