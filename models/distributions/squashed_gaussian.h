#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "knurl/models/distributions/diag_gaussian.h"

namespace knurl {

/// tanh of a vector of independent normal numbers, in (-1, 1). Actions are kept as what tanh is
/// taken of, so that nothing is lost near the bounds; the policy's ActionAdapter squashes them.
/// Log-probabilities are those of the squashed action. The KL divergence is that of the normal
/// numbers: tanh is one to one. The entropy has no closed form: the mean of log(1 - tanh(u)^2)
/// is taken by Gauss-Hermite quadrature.
struct SquashedGaussian : DiagGaussian {
  [[nodiscard]] float log_prob(const float* in, const Element* action) const {
    float out = DiagGaussian::log_prob(in, action);
    for (int i = 0; i < n; ++i) out -= static_cast<float>(log_slope(action[i]));
    return out;
  }
  [[nodiscard]] float entropy(const float* in) const {
    double sum = 0.0;
    for (int i = 0; i < n; ++i) {
      over_normal(in[i], in[n + i],
                  [&](double weight, double u, double) { sum += weight * log_slope(u); });
    }
    return DiagGaussian::entropy(in) + static_cast<float>(sum);
  }
  /// Adds weight * d entropy / d inputs; d log(1 - tanh(u)^2) / du = -2 tanh(u).
  void add_entropy_gradient(const float* in, float weight, float* gradient) const {
    DiagGaussian::add_entropy_gradient(in, weight, gradient);
    for (int i = 0; i < n; ++i) {
      double by_mean = 0.0;
      double by_log_std = 0.0;
      over_normal(in[i], in[n + i], [&](double share, double u, double from_mean) {
        const double slope = -2.0 * std::tanh(u);
        by_mean += share * slope;
        by_log_std += share * slope * from_mean;
      });
      gradient[i] += weight * static_cast<float>(by_mean);
      gradient[n + i] += weight * static_cast<float>(by_log_std);
    }
  }

 private:
  /// log(d tanh(u) / du), also where 1 - tanh(u)^2 has become 0.
  static double log_slope(double u) {
    const double size = std::abs(u);
    return 2.0 * (std::numbers::ln2 - size - std::log1p(std::exp(-2.0 * size)));
  }

  /// Calls `visit(weight, u, u - mean)` for 8 points of a normal number (weights sum to 1): exact
  /// for polynomials up to degree 15.
  template <class Visit>
  static void over_normal(float mean, float log_std, Visit visit) {
    constexpr std::array<double, 4> kPoints{0.3811869902073221, 1.1571937124467802,
                                            1.9816567566958429, 2.9306374202572441};
    constexpr std::array<double, 4> kWeights{0.6611470125582413, 0.2078023258148919,
                                             0.0170779830074134, 0.0001996040722114};
    const double stretch = std::numbers::sqrt2 * std::exp(static_cast<double>(log_std));
    const double scale = std::numbers::inv_sqrtpi;
    for (std::size_t i = 0; i < kPoints.size(); ++i) {
      for (const double sign : {-1.0, 1.0}) {
        const double from_mean = sign * stretch * kPoints[i];
        visit(scale * kWeights[i], mean + from_mean, from_mean);
      }
    }
  }
};

}  // namespace knurl
