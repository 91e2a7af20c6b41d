#pragma once

#include <vector>

#include <torch/torch.h>

#include "knurl/models/trainable_net.h"

namespace knurl {

/// TrainableNet on LibTorch. Parameters and gradients are views into the
/// flat buffers, so that nothing is copied between autograd and the optimizer.
class TorchNet final : public TrainableNet {
 public:
  TorchNet(NetSpec spec, const Weights& weights);

  [[nodiscard]] RecordBatch& parameters() override { return parameters_; }
  [[nodiscard]] RecordBatch& gradients() override { return gradients_; }
  std::vector<std::span<const float>> forward(const RecordBatch& minibatch) override;
  void backward(const std::vector<std::span<const float>>& output_gradients) override;

 private:
  struct Layer {
    torch::Tensor weight = {};  ///< or the parameters of a layer of another kind
    torch::Tensor bias = {};
    std::vector<torch::Tensor> custom = {};  ///< of a custom layer
  };
  [[nodiscard]] torch::Tensor run(std::size_t k, const torch::Tensor& x) const;

  NetSpec spec_;
  RecordBatch parameters_;
  RecordBatch gradients_;
  std::vector<Layer> layers_;
  std::vector<torch::Tensor> outputs_;  ///< of the last forward, with their graph
};

}  // namespace knurl
