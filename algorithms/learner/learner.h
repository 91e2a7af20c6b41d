#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "knurl/algorithms/learner/optimizer.h"
#include "knurl/algorithms/options.h"
#include "knurl/core/checkpoint/checkpoint.h"
#include "knurl/models/trainable_net.h"

namespace knurl {

/// The values of a net's outputs for a minibatch, in the order of its spec, each [rows, size].
using OutputValues = std::vector<std::span<const float>>;
/// d loss / d outputs, to be filled by the loss.
using OutputGradients = std::vector<std::span<float>>;
/// From outputs to their gradients; returns the loss.
using LossFunction = std::function<double(const OutputValues&, const OutputGradients&)>;

/// A net with its optimizer: what every learner of a neural policy is made of. Not thread-safe.
class NetLearner {
 public:
  NetLearner(const NetSpec& spec, const Weights& weights, const TrainingOptions& options,
             int num_threads);

  /// Gradients of the loss over `rows` rows of inputs. Throws Error(env) where the loss or a
  /// gradient is not finite; the parameters are then still those from before.
  double compute_gradients(const float* inputs, std::int64_t rows, const LossFunction& loss);
  /// Clips the gradients and takes one step.
  void apply_gradients(double lr);
  /// compute_gradients, then apply_gradients.
  double update(const float* inputs, std::int64_t rows, double lr, const LossFunction& loss) {
    const double value = compute_gradients(inputs, rows, loss);
    apply_gradients(lr);
    return value;
  }

  [[nodiscard]] TrainableNet& net() { return *net_; }
  [[nodiscard]] std::int64_t num_updates() const { return num_updates_; }
  /// Norm of the last gradients before clipping.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }
  /// A copy of the parameters; the version is the number of updates that made them.
  [[nodiscard]] Weights weights() const;
  void set_weights(const Weights& weights);

  /// All but the parameters. load restores the version of the weights too.
  void save(CheckpointData& out) const;
  void load(const CheckpointData& in);

 private:
  TrainingOptions options_;
  std::vector<int> output_sizes_;
  std::unique_ptr<TrainableNet> net_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<std::vector<float>> output_gradients_;
  std::int64_t num_updates_ = 0;
  double gradient_norm_ = 0.0;
};

}  // namespace knurl
