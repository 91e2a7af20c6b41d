#pragma once

#include <cstdint>
#include <span>

#include "knurl/core/base/rng.h"
#include "knurl/models/weights.h"

namespace knurl {

/// Parameter-space noise (Plappert et al. 2018): workers act by weights to which normal noise is
/// added, drawn anew for each round of sampling. Its standard deviation adapts so that the noisy
/// policy stays as far from the plain one as epsilon-greedy's would be (section 3.1, appendix C).
class ParameterNoise {
 public:
  ParameterNoise(double stddev, const Rng& rng) : stddev_(stddev), rng_(rng) {}

  /// The weights of this round: the filter's aside, all have noise.
  [[nodiscard]] Weights perturbed(Weights weights) const;
  /// The next round begins, after one in which the policies of `rows` observations were these
  /// action values [rows, actions], and epsilon was what it was.
  void adapt(std::span<const float> plain_q, std::span<const float> noisy_q, int actions,
             double epsilon);

  [[nodiscard]] double stddev() const { return stddev_; }
  [[nodiscard]] std::uint64_t round() const { return round_; }
  void restore(double stddev, std::uint64_t round) {
    stddev_ = stddev;
    round_ = round;
  }

 private:
  double stddev_;
  Rng rng_;
  std::uint64_t round_ = 0;
};

/// Mean KL divergence of softmax(noisy) from softmax(plain) over rows of action values.
double policy_distance(std::span<const float> plain_q, std::span<const float> noisy_q, int actions);

}  // namespace knurl
