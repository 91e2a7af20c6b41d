#pragma once

#include <cstdint>
#include <vector>

#include "knurl/models/exploration/exploration.h"

namespace knurl {

/// Generalized state-dependent exploration (Raffin et al. 2021, section 4.1): action = mean +
/// noise^T features, where a row's noise [features, actions] is drawn from N(0, exp(log_std)^2) and
/// kept for a while, so that like states get like actions. For Gaussians whose net has an
/// sde_log_std layer.
class StateDependentNoise final : public Exploration {
 public:
  /// Noise is drawn anew at each fragment, and where `sample_freq` is above 0 after so many steps.
  explicit StateDependentNoise(int sample_freq) : sample_freq_(sample_freq) {}

  void choose(const ActionDistribution& distribution, const DistributionRows& in,
              std::span<Rng> rngs, RecordBatch& out) override;
  void begin_fragment() override { steps_ = 0; }

 private:
  void draw(const SdeFeatures& sde, std::int64_t rows, std::span<Rng> rngs);

  int sample_freq_;
  std::int64_t steps_ = 0;    ///< since the fragment began
  std::vector<float> noise_;  ///< [rows, features, actions]
};

}  // namespace knurl
