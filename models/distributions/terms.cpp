#include "knurl/models/distributions/terms.h"

#include <algorithm>

#include "knurl/models/fast/kernels.h"

namespace knurl {
namespace {

constexpr float kLog2Pi = 1.8378770664093453F;

std::size_t padded(std::size_t n) {
  return (n + fast::kPad - 1) / fast::kPad * fast::kPad;
}

}  // namespace

Terms<Categorical>::Terms(const Categorical& distribution, std::span<const float> logits,
                          std::int64_t rows, Scratch& scratch)
    : n_(distribution.n),
      rows_(static_cast<std::size_t>(rows)),
      stride_(padded(rows_)),
      log_p_(scratch.take(stride_ * static_cast<std::size_t>(n_))),
      p_(scratch.take(stride_ * static_cast<std::size_t>(n_))),
      entropy_(scratch.take(stride_)) {
  fast::kernels().log_softmax({.logits = logits.data(),
                               .rows = rows,
                               .n = n_,
                               .log_p = log_p_,
                               .p = p_,
                               .entropy = entropy_,
                               .stride = static_cast<std::ptrdiff_t>(stride_)});
}

void Terms<Categorical>::log_prob(std::span<const Element> actions, std::span<float> out) const {
  for (std::size_t row = 0; row < rows_; ++row) {
    out[row] = log_p_[static_cast<std::size_t>(actions[row]) * stride_ + row];
  }
}

void Terms<Categorical>::entropy(std::span<float> out) const {
  std::copy_n(entropy_, rows_, out.begin());
}

void Terms<Categorical>::kl_from(const Terms& other, std::span<float> out) const {
  std::fill_n(out.begin(), rows_, 0.0F);
  for (std::size_t first = 0; first < stride_ * static_cast<std::size_t>(n_); first += stride_) {
    for (std::size_t row = 0; row < rows_; ++row) {
      const std::size_t at = first + row;
      out[row] += other.p_[at] * (other.log_p_[at] - log_p_[at]);
    }
  }
}

/// One-hot(action) - p for log-probabilities, -p (log p + entropy) for entropies, p - p_other for
/// divergences.
void Terms<Categorical>::gradient(std::span<const Element> actions, const Terms& other,
                                  const TermWeights& weights, std::span<float> out) const {
  const auto n = static_cast<std::size_t>(n_);
  for (std::size_t action = 0; action < n; ++action) {
    const float* p = p_ + action * stride_;
    const float* log_p = log_p_ + action * stride_;
    const float* other_p = other.p_ + action * stride_;
    for (std::size_t row = 0; row < rows_; ++row) {
      out[row * n + action] =
          weights.kl * (p[row] - other_p[row]) -
          p[row] * (weights.log_prob[row] + weights.entropy * (log_p[row] + entropy_[row]));
    }
  }
  for (std::size_t row = 0; row < rows_; ++row) {
    out[row * n + static_cast<std::size_t>(actions[row])] += weights.log_prob[row];
  }
}

Terms<DiagGaussian>::Terms(const DiagGaussian& distribution, std::span<const float> inputs,
                           std::int64_t rows, Scratch& scratch)
    : n_(static_cast<std::size_t>(distribution.n)),
      rows_(static_cast<std::size_t>(rows)),
      inputs_(inputs.data()),
      inverse_(scratch.take(padded(rows_ * n_))) {
  for (std::size_t row = 0; row < rows_; ++row) {
    for (std::size_t i = 0; i < n_; ++i) {
      inverse_[row * n_ + i] = -inputs_[row * 2 * n_ + n_ + i];
    }
  }
  std::fill(inverse_ + rows_ * n_, inverse_ + padded(rows_ * n_), 0.0F);
  fast::kernels().exp(inverse_, inverse_, padded(rows_ * n_));
}

void Terms<DiagGaussian>::log_prob(std::span<const Element> actions, std::span<float> out) const {
  for (std::size_t row = 0; row < rows_; ++row) {
    const float* in = inputs_ + row * 2 * n_;
    float sum = -0.5F * kLog2Pi * static_cast<float>(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const float z = (actions[row * n_ + i] - in[i]) * inverse_[row * n_ + i];
      sum -= 0.5F * z * z + in[n_ + i];
    }
    out[row] = sum;
  }
}

void Terms<DiagGaussian>::entropy(std::span<float> out) const {
  const DiagGaussian distribution{.n = static_cast<int>(n_)};
  for (std::size_t row = 0; row < rows_; ++row) {
    out[row] = distribution.entropy(inputs_ + row * 2 * n_);
  }
}

void Terms<DiagGaussian>::kl_from(const Terms& other, std::span<float> out) const {
  for (std::size_t row = 0; row < rows_; ++row) {
    const float* in = inputs_ + row * 2 * n_;
    const float* old = other.inputs_ + row * 2 * n_;
    float sum = -0.5F * static_cast<float>(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      const float inverse = inverse_[row * n_ + i];
      const float ratio = inverse / other.inverse_[row * n_ + i];  // of the deviations
      const float z = (old[i] - in[i]) * inverse;
      sum += in[n_ + i] - old[n_ + i] + 0.5F * (ratio * ratio + z * z);
    }
    out[row] = sum;
  }
}

void Terms<DiagGaussian>::gradient(std::span<const Element> actions, const Terms& other,
                                   const TermWeights& weights, std::span<float> out) const {
  for (std::size_t row = 0; row < rows_; ++row) {
    const float* in = inputs_ + row * 2 * n_;
    const float* old = other.inputs_ + row * 2 * n_;
    float* to = out.data() + row * 2 * n_;
    const float weight = weights.log_prob[row];
    for (std::size_t i = 0; i < n_; ++i) {
      const float inverse = inverse_[row * n_ + i];
      const float z = (actions[row * n_ + i] - in[i]) * inverse;
      const float ratio = inverse / other.inverse_[row * n_ + i];
      const float z_old = (old[i] - in[i]) * inverse;
      to[i] = inverse * (weight * z - weights.kl * z_old);
      to[n_ + i] = weight * (z * z - 1.0F) + weights.entropy +
                   weights.kl * (1.0F - ratio * ratio - z_old * z_old);
    }
  }
}

}  // namespace knurl
