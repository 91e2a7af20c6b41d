#pragma once

#include <cstdint>
#include <span>

#include "knurl/models/distributions/action_distribution.h"
#include "knurl/models/distributions/scratch.h"

namespace knurl {

/// How much the terms of a loss weigh in its gradient.
struct TermWeights {
  std::span<const float> log_prob;  ///< [rows]
  float entropy = 0.0F;
  float kl = 0.0F;
};

/// What a distribution says of the rows of a minibatch, row by row: log-probabilities, entropies,
/// divergences, and their gradient. A `Terms` is made of inputs [rows, inputs] and lives as long as
/// they and the scratch memory do.
template <class Distribution>
class Terms {
 public:
  using Element = typename Distribution::Element;

  Terms(const Distribution& distribution, std::span<const float> inputs, std::int64_t rows,
        Scratch& /*scratch*/)
      : distribution_(distribution), inputs_(inputs.data()), rows_(rows) {}

  void log_prob(std::span<const Element> actions, std::span<float> out) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      out[static_cast<std::size_t>(row)] =
          distribution_.log_prob(at(row), actions.data() + row * distribution_.width());
    }
  }
  void entropy(std::span<float> out) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      out[static_cast<std::size_t>(row)] = distribution_.entropy(at(row));
    }
  }
  /// KL(other || this).
  void kl_from(const Terms& other, std::span<float> out) const {
    for (std::int64_t row = 0; row < rows_; ++row) {
      out[static_cast<std::size_t>(row)] = distribution_.kl_from(other.at(row), at(row));
    }
  }
  /// Sets d of the weighted sum of all rows' terms / d inputs [rows, inputs].
  void gradient(std::span<const Element> actions, const Terms& other, const TermWeights& weights,
                std::span<float> out) const {
    std::fill(out.begin(), out.end(), 0.0F);
    for (std::int64_t row = 0; row < rows_; ++row) {
      float* to = out.data() + row * distribution_.inputs();
      const float weight = weights.log_prob[static_cast<std::size_t>(row)];
      if (weight != 0.0F) {
        distribution_.add_log_prob_gradient(at(row), actions.data() + row * distribution_.width(),
                                            weight, to);
      }
      if (weights.entropy != 0.0F) distribution_.add_entropy_gradient(at(row), weights.entropy, to);
      if (weights.kl != 0.0F) distribution_.add_kl_gradient(other.at(row), at(row), weights.kl, to);
    }
  }

 private:
  [[nodiscard]] const float* at(std::int64_t row) const {
    return inputs_ + row * distribution_.inputs();
  }

  const Distribution& distribution_;
  const float* inputs_;
  std::int64_t rows_;
};

/// The same of one choice, in vectors over rows: the numbers of an action lie one behind the other.
template <>
class Terms<Categorical> {
 public:
  using Element = Categorical::Element;

  Terms(const Categorical& distribution, std::span<const float> logits, std::int64_t rows,
        Scratch& scratch);
  void log_prob(std::span<const Element> actions, std::span<float> out) const;
  void entropy(std::span<float> out) const;
  void kl_from(const Terms& other, std::span<float> out) const;
  void gradient(std::span<const Element> actions, const Terms& other, const TermWeights& weights,
                std::span<float> out) const;

 private:
  int n_;
  std::size_t rows_;
  std::size_t stride_;  ///< rows, padded
  float* log_p_;        ///< [actions, stride]
  float* p_;            ///< [actions, stride]
  float* entropy_;      ///< [stride]
};

/// The same of independent normal numbers, which share their exponentials.
template <>
class Terms<DiagGaussian> {
 public:
  using Element = DiagGaussian::Element;

  Terms(const DiagGaussian& distribution, std::span<const float> inputs, std::int64_t rows,
        Scratch& scratch);
  void log_prob(std::span<const Element> actions, std::span<float> out) const;
  void entropy(std::span<float> out) const;
  void kl_from(const Terms& other, std::span<float> out) const;
  void gradient(std::span<const Element> actions, const Terms& other, const TermWeights& weights,
                std::span<float> out) const;

 private:
  std::size_t n_;
  std::size_t rows_;
  const float* inputs_;
  float* inverse_;  ///< 1 / standard deviation [rows, n]
};

}  // namespace knurl
