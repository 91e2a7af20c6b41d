#pragma once

#include <cstdint>

#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/core/metrics/result.h"

namespace knurl::tune {

/// Something that gets better iteration by iteration, reports, and can be put down and taken up
/// again. Used by one thread at a time.
class Trainable {
 public:
  virtual ~Trainable() = default;

  /// One iteration.
  virtual Result train() = 0;

  /// Iterations done, those before load_state included.
  [[nodiscard]] virtual std::int64_t iteration() const = 0;

  /// Everything that the next iteration depends on. Throws Error(env) rather than hand out a
  /// state that cannot be gone on from.
  [[nodiscard]] virtual CheckpointData save_state() = 0;
  virtual void load_state(const CheckpointData& state) = 0;

  /// What train() can report, for stop conditions and scores.
  [[nodiscard]] virtual const MetricNames& metric_names() const = 0;
};

}  // namespace knurl::tune
