#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "knurl/models/net_spec.h"
#include "knurl/models/trainable_net.h"

namespace knurl::fast {

/// Nothing where FusedNet can train a net, one of dense layers, filters and log standard
/// deviations; else the layer that it cannot, as a sentence.
[[nodiscard]] std::optional<std::string> why_not_fused(const NetSpec& spec);

/// A net that learns without LibTorch: forward and backward passes of kernels over buffers that are
/// there already, and nothing is allocated while minibatches are no larger than before.
class FusedNet final : public TrainableNet {
 public:
  /// Throws std::logic_error for a net that it cannot train.
  FusedNet(NetSpec spec, const Weights& weights);

  [[nodiscard]] RecordBatch& parameters() override { return parameters_; }
  [[nodiscard]] RecordBatch& gradients() override { return gradients_; }
  using TrainableNet::forward;
  std::vector<std::span<const float>> forward(const RecordBatch& minibatch,
                                              const Sequences& sequences) override;
  void backward(const std::vector<std::span<const float>>& output_gradients) override;

 private:
  /// Rows of numbers, `stride` floats apart.
  struct Input {
    const float* data = nullptr;
    std::int64_t stride = 0;
  };
  /// A layer's parameters as the kernels want them, its results and their gradients.
  struct Layer {
    float* weight = nullptr;  ///< in the flat buffer, or the parameters of a layer of another kind
    float* bias = nullptr;
    float* weight_gradient = nullptr;
    float* bias_gradient = nullptr;
    RecordBatch forward_weight = {};  ///< [inputs, padded outputs]
    RecordBatch padded_weight = {};   ///< [outputs, padded inputs], where inputs are padded at all
    RecordBatch padded_weight_gradient = {};  ///< the same
    /// [inputs, padded outputs], of a layer that reads the net's input where it is not whole
    /// vectors.
    RecordBatch weight_gradient_columns = {};
    RecordBatch before =
        {};                  ///< what silu was given [rows, padded outputs]; squares of sde_log_std
    std::int64_t width = 0;  ///< of rows of results: outputs, padded but of narrow ones
    bool narrow = false;
    RecordBatch results = {};    ///< [rows, width]
    RecordBatch gradients = {};  ///< d loss / d results, then d loss / d what the activation got
    bool has_gradient = false;   ///< in this backward, so far
    /// The dense layer that multiplies the gradient by the activation's slope: the last in a
    /// backward that adds to it.
    std::optional<std::size_t> finisher = std::nullopt;
  };

  void make_layer(std::size_t k);
  void make_room(std::int64_t rows);
  [[nodiscard]] Input input_of(std::size_t k) const;
  void forward_layer(std::size_t k);
  void forward_dense(std::size_t k);
  void forward_narrow(std::size_t k);
  [[nodiscard]] const float* padded_weight(std::size_t k);
  void forward_filter(std::size_t k);
  void forward_sde(std::size_t k);
  void take_output_gradients(const std::vector<std::span<const float>>& output_gradients);
  void finish_gradient(std::size_t k);
  void backward_dense(std::size_t k);
  void backward_weight(std::size_t k);
  void backward_sde(std::size_t k);

  NetSpec spec_;
  RecordBatch parameters_;
  RecordBatch gradients_;
  std::vector<Layer> layers_;
  std::vector<std::vector<float>> outputs_;  ///< [rows, size]
  Input input_;
  std::int64_t rows_ = 0;
};

}  // namespace knurl::fast
