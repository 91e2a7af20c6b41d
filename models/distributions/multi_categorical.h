#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "knurl/models/distributions/categorical.h"

namespace knurl {

/// Several independent choices, each a Categorical: inputs are their logits one after the other.
struct MultiCategorical {
  using Element = std::int64_t;
  static constexpr bool kScalar = false;

  std::vector<int> sizes = {};

  [[nodiscard]] int inputs() const { return std::accumulate(sizes.begin(), sizes.end(), 0); }
  [[nodiscard]] int width() const { return static_cast<int>(sizes.size()); }

  void sample(const float* in, Rng& rng, Element* action) const {
    for (const int n : sizes) {
      Categorical{.n = n}.sample(in, rng, action++);
      in += n;
    }
  }
  void mode(const float* in, Element* action) const {
    for (const int n : sizes) {
      Categorical{.n = n}.mode(in, action++);
      in += n;
    }
  }
  [[nodiscard]] float log_prob(const float* in, const Element* action) const {
    float sum = 0.0F;
    for (const int n : sizes) {
      sum += Categorical{.n = n}.log_prob(in, action++);
      in += n;
    }
    return sum;
  }
  [[nodiscard]] float entropy(const float* in) const {
    float sum = 0.0F;
    for (const int n : sizes) {
      sum += Categorical{.n = n}.entropy(in);
      in += n;
    }
    return sum;
  }
  /// KL(other || this), from both inputs.
  [[nodiscard]] float kl_from(const float* other, const float* in) const {
    float sum = 0.0F;
    for (const int n : sizes) {
      sum += Categorical{.n = n}.kl_from(other, in);
      other += n;
      in += n;
    }
    return sum;
  }
  void add_log_prob_gradient(const float* in, const Element* action, float weight,
                             float* gradient) const {
    for (const int n : sizes) {
      Categorical{.n = n}.add_log_prob_gradient(in, action++, weight, gradient);
      in += n;
      gradient += n;
    }
  }
  void add_entropy_gradient(const float* in, float weight, float* gradient) const {
    for (const int n : sizes) {
      Categorical{.n = n}.add_entropy_gradient(in, weight, gradient);
      in += n;
      gradient += n;
    }
  }
  void add_kl_gradient(const float* other, const float* in, float weight, float* gradient) const {
    for (const int n : sizes) {
      Categorical{.n = n}.add_kl_gradient(other, in, weight, gradient);
      other += n;
      in += n;
      gradient += n;
    }
  }
};

}  // namespace knurl
