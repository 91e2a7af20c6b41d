#include "knurl/models/exploration/state_dependent_noise.h"

#include <algorithm>
#include <cmath>

#include "knurl/core/base/check.h"
#include "knurl/models/columns.h"

namespace knurl {

void StateDependentNoise::draw(const SdeFeatures& sde, std::int64_t rows, std::span<Rng> rngs) {
  const auto size = static_cast<std::size_t>(sde.size) * static_cast<std::size_t>(sde.actions);
  noise_.resize(static_cast<std::size_t>(rows) * size);
  float* noise = noise_.data();
  for (std::int64_t row = 0; row < rows; ++row) {
    Rng& rng = rngs[static_cast<std::size_t>(row)];
    for (std::size_t i = 0; i < size; ++i) {
      *noise++ = std::exp(sde.log_std[i]) * static_cast<float>(rng.normal());
    }
  }
}

void StateDependentNoise::choose(const ActionDistribution& distribution, const DistributionRows& in,
                                 std::span<Rng> rngs, RecordBatch& out) {
  const SdeFeatures& sde = in.sde;
  check(sde.data != nullptr, "the net has features for state-dependent noise");
  check(std::holds_alternative<DiagGaussian>(distribution) ||
            std::holds_alternative<SquashedGaussian>(distribution),
        "state-dependent noise is for Gaussians");
  const std::int64_t size = std::int64_t{sde.size} * sde.actions;
  const bool other_rows = std::ssize(noise_) != in.rows * size;
  if (steps_ == 0 || other_rows || (sample_freq_ > 0 && steps_ % sample_freq_ == 0)) {
    draw(sde, in.rows, rngs);
  }
  ++steps_;
  const auto actions = out.column<float>(column::kActions);
  for (std::int64_t row = 0; row < in.rows; ++row) {
    const std::span<float> action = actions.row(row);
    std::copy_n(in.data + row * in.stride, sde.actions, action.data());
    const float* features = sde.data + row * sde.stride;
    const float* noise = noise_.data() + row * size;
    for (int i = 0; i < sde.size; ++i) {
      for (float& a : action) a += features[i] * *noise++;
    }
  }
}

}  // namespace knurl
