#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "knurl/algorithms/options.h"
#include "knurl/core/data/record_batch.h"

namespace knurl {

/// Moves parameters along their gradients; both are flat buffers of the same layout.
class Optimizer {
 public:
  virtual ~Optimizer() = default;

  /// One step. Gradients count `gradient_scale` times.
  virtual void step(RecordBatch& parameters, const RecordBatch& gradients, double lr,
                    double gradient_scale) = 0;

  /// Tensors that the next step depends on, named "<what>/<parameter>", and "steps".
  [[nodiscard]] virtual RecordBatch state() const = 0;
  /// Throws Error(checkpoint) where the state is of another optimizer or net.
  virtual void restore(const RecordBatch& state) = 0;
};

/// Adam (Kingma and Ba 2015, algorithm 1) or stochastic gradient descent with momentum, as PyTorch
/// defines them, for parameters laid out like `parameters`.
std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          const RecordBatch& parameters);

/// What clipping came to.
struct ClippedGradients {
  double norm = 0.0;   ///< of all gradients, before
  double scale = 1.0;  ///< by which the optimizer is to scale them
};

/// Clips gradients: by the scale (global_norm: min(1, clip / (norm + 1e-6)), as PyTorch's
/// clip_grad_norm_), or by changing them (norm: the same for each tensor; value: each number).
ClippedGradients clip_gradients(RecordBatch& gradients, std::optional<double> clip, GradClipBy by);

}  // namespace knurl
