#pragma once

#include <algorithm>
#include <cmath>

#include "knurl/core/base/rng.h"

namespace knurl {

/// A vector of independent normal numbers. Inputs are the means, then the logarithms of the
/// standard deviations.
struct DiagGaussian {
  using Element = float;
  static constexpr bool kScalar = false;

  int n = 1;

  [[nodiscard]] int inputs() const { return 2 * n; }
  [[nodiscard]] int width() const { return n; }

  void sample(const float* in, Rng& rng, Element* action) const {
    for (int i = 0; i < n; ++i) {
      action[i] = in[i] + std::exp(in[n + i]) * static_cast<float>(rng.normal());
    }
  }
  void mode(const float* in, Element* action) const { std::copy(in, in + n, action); }

  [[nodiscard]] float log_prob(const float* in, const Element* action) const {
    float sum = -0.5F * kLog2Pi * static_cast<float>(n);
    for (int i = 0; i < n; ++i) {
      const float z = (action[i] - in[i]) * std::exp(-in[n + i]);
      sum -= 0.5F * z * z + in[n + i];
    }
    return sum;
  }
  [[nodiscard]] float entropy(const float* in) const {
    float sum = 0.5F * (kLog2Pi + 1.0F) * static_cast<float>(n);
    for (int i = 0; i < n; ++i) sum += in[n + i];
    return sum;
  }
  /// KL(other || this), from both inputs.
  [[nodiscard]] float kl_from(const float* other, const float* in) const {
    float sum = -0.5F * static_cast<float>(n);
    for (int i = 0; i < n; ++i) {
      const float ratio = std::exp(other[n + i] - in[n + i]);  // of the deviations
      const float z = (other[i] - in[i]) * std::exp(-in[n + i]);
      sum += in[n + i] - other[n + i] + 0.5F * (ratio * ratio + z * z);
    }
    return sum;
  }

  /// Adds weight * d log_prob / d inputs.
  void add_log_prob_gradient(const float* in, const Element* action, float weight,
                             float* gradient) const {
    for (int i = 0; i < n; ++i) {
      const float inverse = std::exp(-in[n + i]);
      const float z = (action[i] - in[i]) * inverse;
      gradient[i] += weight * z * inverse;
      gradient[n + i] += weight * (z * z - 1.0F);
    }
  }
  /// Adds weight * d entropy / d inputs.
  void add_entropy_gradient(const float* /*in*/, float weight, float* gradient) const {
    for (int i = 0; i < n; ++i) gradient[n + i] += weight;
  }
  /// Adds weight * d KL(other || this) / d inputs.
  void add_kl_gradient(const float* other, const float* in, float weight, float* gradient) const {
    for (int i = 0; i < n; ++i) {
      const float ratio = std::exp(other[n + i] - in[n + i]);
      const float inverse = std::exp(-in[n + i]);
      const float z = (other[i] - in[i]) * inverse;
      gradient[i] -= weight * z * inverse;
      gradient[n + i] += weight * (1.0F - ratio * ratio - z * z);
    }
  }

 private:
  static constexpr float kLog2Pi = 1.8378770664093453F;
};

}  // namespace knurl
