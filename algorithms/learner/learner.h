#pragma once

#include <cstdint>

#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/metrics/result.h"
#include "knurl/models/weights.h"

namespace knurl {

/// What improves a policy: a model, perhaps target models and an optimizer. How it learns is each
/// algorithm's own; this is what workers and checkpoints need of it. Not thread-safe.
class Learner {
 public:
  virtual ~Learner() = default;

  /// The policy's parameters now, with their version.
  [[nodiscard]] virtual Weights weights() const = 0;
  /// Grows with every change of the parameters.
  [[nodiscard]] virtual std::int64_t version() const = 0;
  /// Takes over parameters and their version. Throws Error(config) where they are another model's.
  virtual void set_weights(const Weights& weights) = 0;

  /// What has been learnt since the last call, under RLlib's names: means over updates, and current
  /// values.
  virtual Result take_stats() = 0;

  /// Everything beside the weights that the next update depends on.
  virtual void save(CheckpointData& out) const = 0;
  virtual void load(const CheckpointData& in) = 0;
};

}  // namespace knurl
