#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "knurl/algorithms/learner/observation_filter.h"
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

/// A net with its optimizer: what learners of neural policies are made of. Not thread-safe.
class NetLearner {
 public:
  /// Throws Error(config) where learner_backend asks for kernels that there are not for a layer.
  NetLearner(const NetSpec& spec, const Weights& weights, const TrainingOptions& options,
             const ResourceOptions& resources = {});

  /// Gradients of the loss over a minibatch, whose rows may be steps of sequences. Throws
  /// Error(env) where the loss is not finite; the parameters are then those from before. Returns
  /// the loss.
  double compute_gradients(const RecordBatch& minibatch, const Sequences& sequences,
                           const LossFunction& loss);
  double compute_gradients(const RecordBatch& minibatch, const LossFunction& loss) {
    return compute_gradients(minibatch, {}, loss);
  }
  /// Clips the gradients and takes one step. Throws Error(env) where they are not finite; the
  /// parameters are then those from before.
  void apply_gradients(double lr);
  /// compute_gradients, then apply_gradients.
  double update(const RecordBatch& minibatch, double lr, const LossFunction& loss) {
    const double value = compute_gradients(minibatch, loss);
    apply_gradients(lr);
    return value;
  }

  /// Shows observations as the net reads them to its filter; without a filter nothing happens.
  void observe(const float* row) {
    if (filter_) filter_->add(row);
  }
  /// Lets the filter's layer know what was shown: a version of its own.
  void apply_filter();
  /// What a filter adds to standard deviations.
  void set_filter_epsilon(double epsilon) {
    if (filter_) filter_->set_epsilon(epsilon);
  }
  [[nodiscard]] bool has_filter() const { return filter_.has_value(); }

  /// Draws new noise for a net that has any (models/noisy.h).
  void draw_noise(const Rng& rng) { net_->draw_noise(rng); }

  /// d loss / d parameters of the last compute_gradients: to be combined with those of others.
  [[nodiscard]] RecordBatch& gradients() { return net_->gradients(); }
  /// Norm of the last gradients before clipping.
  [[nodiscard]] double gradient_norm() const { return gradient_norm_; }

  /// A copy of the parameters. Each update makes the version one higher, as apply_filter does.
  [[nodiscard]] Weights weights() const;
  [[nodiscard]] std::int64_t version() const { return version_; }
  /// A filter goes on from theirs. Throws Error(config) where the tensors are another net's.
  void set_weights(const Weights& weights);

  /// The optimizer's state.
  void save(CheckpointData& out) const;
  void load(const CheckpointData& in);

 private:
  TrainingOptions options_;
  std::vector<int> output_sizes_;
  std::unique_ptr<TrainableNet> net_;
  std::unique_ptr<Optimizer> optimizer_;
  std::optional<ObservationFilter> filter_;
  std::vector<std::vector<float>> output_gradients_;
  OutputGradients gradient_spans_;  ///< of the same
  std::int64_t version_ = 0;
  double gradient_norm_ = 0.0;
};

}  // namespace knurl
